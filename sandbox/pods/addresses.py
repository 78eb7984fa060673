"""Decide whether a URL in a pod's environment reaches coderd.

The simulated coderd's own address does. The name of a Service does if coderd runs in its pods and
the port is one of the Service's. Any other host does if it is in the access URL of coderd's pods,
which may run in another cluster.
"""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpx

from sandbox.cluster import api
from sandbox.pods.container import COMPONENT, Object, container, is_running

ReachesCoderd = Callable[[str], Awaitable[bool]]
_ACCESS_URL = "CODER_ACCESS_URL"
_PORTS = {"http": 80, "https": 443}


def coderd_resolver(
    kube: httpx.AsyncClient, coderd_url: str, home: Path | None = None
) -> ReachesCoderd:
    """Return a function that decides it by the current Services and pods.

    `home` is the kubeconfig of coderd's cluster, if it is not this one.
    """
    coderd = urlsplit(coderd_url)

    async def reaches_coderd(url: str) -> bool:
        try:
            target = urlsplit(url)
            port = _port(target)
        except ValueError:
            return False
        host = target.hostname or ""
        if (host, port) == (coderd.hostname, _port(coderd)):
            return True
        if service := service_of(host):
            return await _serves(kube, *service, port)
        async with AsyncExitStack() as opened:
            # Read again each time: that cluster may have restarted at another port.
            there = await opened.enter_async_context(api.async_client(home)) if home else kube
            return any(has_access_url_host(pod, host) for pod in await _coderd_pods(there))

    return reaches_coderd


def service_of(host: str) -> tuple[str, str] | None:
    """Return namespace and name of the Service that a host name inside the cluster denotes."""
    parts = host.removesuffix(".").removesuffix(".cluster.local").split(".")
    if len(parts) == 3 and parts[2] == "svc":
        return parts[1], parts[0]
    return None


def has_access_url_host(pod: Object, host: str) -> bool:
    """Return whether that is the host of the pod's access URL."""
    found = container(pod)
    url = found.env.get(_ACCESS_URL) if found else None
    return isinstance(url, str) and bool(host) and urlsplit(url).hostname == host


async def _serves(kube: httpx.AsyncClient, namespace: str, name: str, port: int) -> bool:
    service = await _get(kube, f"/api/v1/namespaces/{namespace}/services/{name}")
    spec = service.get("spec", {})
    if port not in [each["port"] for each in spec.get("ports", [])]:
        return False
    selector = ",".join(f"{key}={value}" for key, value in spec.get("selector", {}).items())
    pods = await _get(kube, f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector)
    return bool(selector) and any(_is_coderd(pod) for pod in pods.get("items", []))


async def _coderd_pods(kube: httpx.AsyncClient) -> list[Object]:
    pods = await _get(kube, "/api/v1/pods", labelSelector=f"{COMPONENT}=coderd")
    return [pod for pod in pods.get("items", []) if is_running(pod)]


async def _get(kube: httpx.AsyncClient, path: str, **query: str) -> dict[str, Any]:
    """Return an object from the API server; an empty one if the request fails."""
    try:
        answer = await kube.get(path, params=query)
    except httpx.HTTPError:
        return {}
    return answer.json() if answer.is_success else {}


def _is_coderd(pod: Object) -> bool:
    return is_running(pod) and pod["metadata"].get("labels", {}).get(COMPONENT) == "coderd"


def _port(url: SplitResult) -> int:
    return url.port or _PORTS.get(url.scheme, 0)
