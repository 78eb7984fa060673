"""Gives a program its environment when its container starts, as the kubelet does.

A Secret is read once per start: a running program keeps what it was given, whatever happens to the
Secret later; only a pod that is replaced, or a program that ended and is started again, sees more.
"""

import base64
from collections.abc import Mapping
from typing import Any

import httpx

from sandbox.pods.container import Container, FromSecret


class NotStarted(Exception):  # noqa: N818  # the kubelet's own word would be CreateContainerConfigError
    """The container cannot start yet; the kubelet tries again."""


async def environment(kube: httpx.AsyncClient, container: Container) -> dict[str, str]:
    """The variables with their values, Secrets read now."""
    secrets: dict[str, Mapping[str, Any]] = {}
    env: dict[str, str] = {}
    for name, value in container.env.items():
        if isinstance(value, str):
            env[name] = value
            continue
        if value.name not in secrets:
            secrets[value.name] = await _secret(kube, container.namespace, value)
        data = secrets[value.name]
        if value.key in data:
            env[name] = base64.b64decode(data[value.key]).decode(errors="replace")
        elif not value.optional:
            raise NotStarted(f"Secret {value.name} has no key {value.key}")
    return env


async def _secret(kube: httpx.AsyncClient, namespace: str, wanted: FromSecret) -> Mapping[str, Any]:
    try:
        answer = await kube.get(f"/api/v1/namespaces/{namespace}/secrets/{wanted.name}")
    except httpx.HTTPError as error:
        raise NotStarted("the API server does not answer") from error
    if answer.is_success:
        return answer.json().get("data") or {}
    if answer.status_code == httpx.codes.NOT_FOUND.value and wanted.optional:
        return {}
    raise NotStarted(f"there is no Secret {wanted.name}")
