"""One value out of a Kubernetes Secret: there, surely not there, or nobody to ask (U1).

One GET with the kubeconfig's rights; writes nothing and knows nothing of Pulumi. Neither the value
nor a piece of an answer gets into a message.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import SecretStr, ValidationError

from coder_stack.coderd import (
    ApiServerRefused,
    CertificateNotTrusted,
    Connection,
    InsecureConnection,
    ProtocolError,
    Unavailable,
)
from coder_stack.dynamic.kubeconfig import Kubeconfig, api_settings
from coder_stack.dynamic.wire import WireModel

__all__ = ["SecretAbsent", "SecretPlace", "read_value"]

_TIMEOUT = (3.0, 5.0)
"""Seconds to connect and to read; a refused connection is tried once more."""


class SecretPlace(Kubeconfig):
    """Where the value stands; the cluster is the stack's unless one is given."""

    namespace: str
    name: str
    key: str

    @property
    def label(self) -> str:
        """As people call it."""
        return f"Secret {self.namespace}/{self.name}"


class SecretAbsent(LookupError):  # noqa: N818  # an outcome, like those of coderd/errors.py
    """The API server itself says that the Secret, its key or its value is not there."""


class _Secret(WireModel):
    kind: Literal["Secret"]
    data: Mapping[str, SecretStr] | None = None


class _Details(WireModel):
    kind: str = ""


class _Refusal(WireModel):
    kind: Literal["Status"]
    reason: str = ""
    details: _Details = _Details()


def read_value(place: SecretPlace, stack: Kubeconfig) -> SecretStr:
    """The trimmed value; SecretAbsent, or a CoderdError if the API server cannot be asked."""
    operation = f"read {place.label}"
    status, body = _get(place, stack, operation)
    if status == 200:
        return _value(body, place, operation)
    if status in (429, 500, 502, 503, 504):
        raise Unavailable(operation, f"the API server answered {status}; run again.", status=status)
    try:
        refusal = _Refusal.model_validate_json(body)
    except ValidationError:
        raise _not_kubernetes(operation, status) from None
    if status == 404 and refusal.reason == "NotFound" and refusal.details.kind == "secrets":
        raise SecretAbsent("it does not exist; create it.")
    why = f"the API server answered {status}; check the kubeconfig and its right to get Secrets."
    raise ApiServerRefused(operation, why, status=status)


def _get(place: SecretPlace, stack: Kubeconfig, operation: str) -> tuple[int, bytes]:
    from kubernetes import client  # noqa: PLC0415  # slow, and rarely needed
    from urllib3 import Retry, exceptions  # noqa: PLC0415  # comes with it

    library: Any = client
    settings = api_settings(place, stack)
    host = Connection(base_url=str(settings.host))
    verified = settings.verify_ssl or not host.base_url.startswith("https:")
    if not (host.may_carry_secrets and verified):
        why = "the kubeconfig's cluster has no TLS, or turns its verification off; correct it."
        raise InsecureConnection(operation, why)
    settings.retries = Retry(total=1, read=0, redirect=0, status=0, backoff_factor=0.2)
    try:
        with library.ApiClient(settings) as http:
            answer = library.CoreV1Api(http).read_namespaced_secret(
                place.name, place.namespace, _preload_content=False, _request_timeout=_TIMEOUT
            )
            return int(answer.status), bytes(answer.data)
    except library.ApiException as error:
        if error.status:
            return int(error.status), _bytes(error.body)
        failure = error  # without a status: how the library tells of a TLS failure
    except exceptions.HTTPError as error:
        failure = error
    if "CERTIFICATE_VERIFY_FAILED" in str(failure):
        why = "the API server's certificate is not trusted; check the kubeconfig's CA."
        raise CertificateNotTrusted(operation, why)
    why = "the API server does not answer; check the kubeconfig's server."
    raise Unavailable(operation, why)


def _value(body: bytes, place: SecretPlace, operation: str) -> SecretStr:
    try:
        data = _Secret.model_validate_json(body).data or {}
    except ValidationError:
        raise _not_kubernetes(operation, 200) from None
    if place.key not in data:
        raise SecretAbsent(f'it has no key "{place.key}"; add it.')
    try:
        encoded = data[place.key].get_secret_value()
        text = base64.b64decode(encoded, validate=True).decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        raise SecretAbsent(f'the value under "{place.key}" is no text; correct it.') from None
    if not text:
        raise SecretAbsent(f'the value under "{place.key}" is empty; fill it in.')
    return SecretStr(text)


def _bytes(body: object) -> bytes:
    return body if isinstance(body, bytes) else str(body or "").encode()


def _not_kubernetes(operation: str, status: int) -> ProtocolError:
    why = "the answer is not one of a Kubernetes API server; check the kubeconfig's server."
    return ProtocolError(operation, why, fault="shape", status=status)
