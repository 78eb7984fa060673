"""Resolve a container's environment when it starts, as the kubelet does.

Secrets are read once per start: a running program does not see later changes.
"""

import base64
from collections.abc import Mapping
from typing import Any

import httpx

from sandbox.pods.container import FromSecret, PodContainer


class NotStarted(Exception):  # noqa: N818  # a status, as the kubelet's CreateContainerConfigError
    """The container cannot start yet; the kubelet retries."""


async def environment(kube: httpx.AsyncClient, container: PodContainer) -> dict[str, str]:
    """Return the variables with the current values of Secrets."""
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
