"""Read, apply and delete a Kubernetes Secret with the kubeconfig's rights.

A Secret is absent only if the API server says so; any other failure leaves it unknown (U1). No
message holds a value or a part of an answer.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Literal

from pydantic import Field, SecretStr, ValidationError

from coder_stack.cluster.client import not_kubernetes, refused, request
from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.coderd.errors import Unavailable
from coder_stack.frozen_model import FrozenModel

_FIELD_MANAGER = "coder-stack"


class SecretKeyRef(Kubeconfig):
    """A key in a Secret, in the stack's cluster unless another one is given."""

    namespace: str
    name: str
    key: str

    @property
    def label(self) -> str:
        """Return what messages call it."""
        return f"Secret {self.namespace}/{self.name}"

    @property
    def path(self) -> tuple[str, ...]:
        """Return the segments of its URL below the API server's."""
        return ("api", "v1", "namespaces", self.namespace, "secrets", self.name)


class SecretAbsent(LookupError):  # noqa: N818  # an outcome, like those of coderd/errors.py
    """The API server itself says that the Secret, its key or its value does not exist."""

    def __init__(self, why: str, *, exists: bool) -> None:
        super().__init__(why)
        self.exists = exists
        """Whether the Secret exists, and only the value is missing."""


class _Metadata(FrozenModel):
    annotations: Mapping[str, str] = Field(default_factory=dict[str, str])
    labels: Mapping[str, str] = Field(default_factory=dict[str, str])


class SecretContent(FrozenModel):
    """A Secret as the API server returns it, with `data` in base64."""

    kind: Literal["Secret"]
    metadata: _Metadata = _Metadata()
    data: Mapping[str, SecretStr] | None = None


class _Details(FrozenModel):
    kind: str = ""


class _Refusal(FrozenModel):
    kind: Literal["Status"]
    reason: str = ""
    details: _Details = _Details()


def read_value(ref: SecretKeyRef, stack: Kubeconfig) -> SecretStr:
    """Return the trimmed value; raise SecretAbsent, or a CoderdError if there is no answer."""
    return value_of(read_secret(ref, stack), ref.key)


def read_secret(ref: SecretKeyRef, stack: Kubeconfig) -> SecretContent:
    """Return the whole Secret; raise as `read_value` does."""
    operation = f"read {ref.label}"
    status, body = request(ref, stack, operation, ref.path)
    if status != 200:
        raise _refused(status, body, operation, "get")
    try:
        return SecretContent.model_validate_json(body)
    except ValidationError:
        raise not_kubernetes(operation, status) from None


def value_of(secret: SecretContent, key: str) -> SecretStr:
    """Return the trimmed value under a key, or raise SecretAbsent."""
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
    ref: SecretKeyRef,
    stack: Kubeconfig,
    data: Mapping[str, SecretStr],
    *,
    annotations: Mapping[str, str],
    labels: Mapping[str, str],
) -> None:
    """Create the Secret, or update the fields that this program owns (server-side apply)."""
    operation = f"write {ref.label}"
    content = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": ref.name,
            "namespace": ref.namespace,
            "annotations": dict(annotations),
            "labels": dict(labels),
        },
        "data": {
            key: base64.b64encode(value.get_secret_value().encode()).decode()
            for key, value in data.items()
        },
    }
    query = {"fieldManager": _FIELD_MANAGER, "force": "true"}
    status, body = request(
        ref, stack, operation, ref.path, method="PATCH", query=query, apply=content
    )
    if status not in (200, 201):
        raise _refused(status, body, operation, "create and patch", missing="namespaces")


def delete_secret(ref: SecretKeyRef, stack: Kubeconfig) -> None:
    """Delete the Secret, unless it is gone already."""
    operation = f"delete {ref.label}"
    status, body = request(ref, stack, operation, ref.path, method="DELETE")
    if status not in (200, 202):
        error = _refused(status, body, operation, "delete")
        if not isinstance(error, SecretAbsent):
            raise error


def _refused(
    status: int, body: bytes, operation: str, verb: str, *, missing: str = "secrets"
) -> Exception:
    """Return the error to raise: SecretAbsent only if Kubernetes itself says so."""
    error = refused(operation, status, f"{verb} Secrets")
    if isinstance(error, Unavailable):
        return error
    try:
        refusal = _Refusal.model_validate_json(body)
    except ValidationError:
        return not_kubernetes(operation, status)
    if status == 404 and refusal.reason == "NotFound" and refusal.details.kind == missing:
        what = "it does not exist; create it." if missing == "secrets" else "no such namespace."
        return SecretAbsent(what, exists=False)
    return error
