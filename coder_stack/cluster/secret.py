"""Kubernetes Secrets by the API server's word: there, surely not there, or nobody to ask (U1).

Reads one Secret or one value of it, and applies or deletes the one that this program keeps for
itself (operator_secret.py). Uses the kubeconfig's rights and knows nothing of Pulumi. Neither a
value nor a piece of an answer gets into a message.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError

from coder_stack.cluster.client import Kubeconfig, api_settings
from coder_stack.coderd import (
    ApiServerRefused,
    CertificateNotTrusted,
    Connection,
    InsecureConnection,
    ProtocolError,
    Unavailable,
)
from coder_stack.frozen_model import FrozenModel

__all__ = [
    "SecretAbsent",
    "SecretContent",
    "SecretPlace",
    "apply_secret",
    "delete_secret",
    "read_secret",
    "read_value",
    "value_of",
]

_TIMEOUT = (3.0, 5.0)
"""Seconds to connect and to read; a refused connection is tried once more."""
_MANAGER = "coder-stack"
_APPLY = "application/apply-patch+yaml"


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

    def __init__(self, why: str, *, exists: bool) -> None:
        super().__init__(why)
        self.exists = exists
        """Whether the Secret is there, without the value."""


class _Metadata(FrozenModel):
    annotations: Mapping[str, str] = Field(default_factory=dict[str, str])
    labels: Mapping[str, str] = Field(default_factory=dict[str, str])


class SecretContent(FrozenModel):
    """A Secret as the API server has it; `data` is still encoded."""

    kind: Literal["Secret"]
    metadata: _Metadata = _Metadata()
    data: Mapping[str, SecretStr] | None = None


class _Details(FrozenModel):
    kind: str = ""


class _Refusal(FrozenModel):
    kind: Literal["Status"]
    reason: str = ""
    details: _Details = _Details()


def read_value(place: SecretPlace, stack: Kubeconfig) -> SecretStr:
    """The trimmed value; SecretAbsent, or a CoderdError if the API server cannot be asked."""
    return value_of(read_secret(place, stack), place.key)


def read_secret(place: SecretPlace, stack: Kubeconfig) -> SecretContent:
    """The whole Secret; errors as `read_value`."""
    operation = f"read {place.label}"
    status, body = _ask(place, stack, "GET", operation)
    if status != 200:
        raise _refused(status, body, operation, "get")
    try:
        return SecretContent.model_validate_json(body)
    except ValidationError:
        raise _not_kubernetes(operation, 200) from None


def value_of(secret: SecretContent, key: str) -> SecretStr:
    """One trimmed value of it, or SecretAbsent."""
    data = secret.data or {}
    if key not in data:
        raise SecretAbsent(f'it has no key "{key}"; add it.', exists=True)
    try:
        encoded = data[key].get_secret_value()
        text = base64.b64decode(encoded, validate=True).decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        raise SecretAbsent(
            f'the value under "{key}" is no text; correct it.', exists=True
        ) from None
    if not text:
        raise SecretAbsent(f'the value under "{key}" is empty; fill it in.', exists=True)
    return SecretStr(text)


def apply_secret(
    place: SecretPlace,
    stack: Kubeconfig,
    data: Mapping[str, SecretStr],
    *,
    annotations: Mapping[str, str],
    labels: Mapping[str, str],
) -> None:
    """Create the Secret, or make it hold exactly this of ours. Applying it twice does no harm."""
    operation = f"write {place.label}"
    content = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": place.name,
            "namespace": place.namespace,
            "annotations": dict(annotations),
            "labels": dict(labels),
        },
        "data": {
            key: base64.b64encode(value.get_secret_value().encode()).decode()
            for key, value in data.items()
        },
    }
    status, body = _ask(place, stack, "PATCH", operation, content)
    if status not in (200, 201):
        raise _refused(status, body, operation, "create and patch", missing="namespaces")


def delete_secret(place: SecretPlace, stack: Kubeconfig) -> None:
    """Delete it; gone is fine."""
    operation = f"delete {place.label}"
    status, body = _ask(place, stack, "DELETE", operation)
    if status not in (200, 202):
        error = _refused(status, body, operation, "delete")
        if not isinstance(error, SecretAbsent):
            raise error


def _ask(
    place: SecretPlace,
    stack: Kubeconfig,
    method: Literal["GET", "PATCH", "DELETE"],
    operation: str,
    content: Mapping[str, Any] | None = None,
) -> tuple[int, bytes]:
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
    raw: dict[str, Any] = {"_preload_content": False, "_request_timeout": _TIMEOUT}
    where = (place.name, place.namespace)
    try:
        with library.ApiClient(settings) as http:
            secrets = library.CoreV1Api(http)
            if content is not None:
                applied = {"field_manager": _MANAGER, "force": True, "_content_type": _APPLY}
                answer = secrets.patch_namespaced_secret(*where, content, **applied, **raw)
            elif method == "DELETE":
                answer = secrets.delete_namespaced_secret(*where, **raw)
            else:
                answer = secrets.read_namespaced_secret(*where, **raw)
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


def _refused(
    status: int, body: bytes, operation: str, verb: str, *, missing: str = "secrets"
) -> Exception:
    """The error to raise. Only Kubernetes' own word about that kind of object is an absence."""
    if status in (429, 500, 502, 503, 504):
        why = f"the API server answered {status}; run again."
        return Unavailable(operation, why, status=status)
    try:
        refusal = _Refusal.model_validate_json(body)
    except ValidationError:
        return _not_kubernetes(operation, status)
    if status == 404 and refusal.reason == "NotFound" and refusal.details.kind == missing:
        what = "it does not exist; create it." if missing == "secrets" else "no such namespace."
        return SecretAbsent(what, exists=False)
    why = f"the API server answered {status}; check the kubeconfig and its right to {verb} Secrets."
    return ApiServerRefused(operation, why, status=status)


def _bytes(body: object) -> bytes:
    return body if isinstance(body, bytes) else str(body or "").encode()


def _not_kubernetes(operation: str, status: int) -> ProtocolError:
    why = "the answer is not one of a Kubernetes API server; check the kubeconfig's server."
    return ProtocolError(operation, why, fault="shape", status=status)
