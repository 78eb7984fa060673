"""Where a URL leads that a program in a pod was given: to coderd, or to nobody.

As in a cluster: the name of a Service leads to its pods, if coderd runs in them and the port is
one of the Service's. This machine's own addresses stay what they are. For any other name DNS is
somebody else's: it leads to coderd if that is what coderd's own pods call themselves.
"""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpx

from sandbox.pods.container import COMPONENT, Object, container, is_running

Leads = Callable[[str], Awaitable[bool]]
_ACCESS_URL = "CODER_ACCESS_URL"
_PORTS = {"http": 80, "https": 443}


def leading_to_coderd(kube: httpx.AsyncClient, coderd_url: str) -> Leads:
    """Asks the cluster anew each time: a Service may have gone, and pods with it."""
    played = urlsplit(coderd_url)

    async def leads(url: str) -> bool:
        try:
            target = urlsplit(url)
            port = _port(target)
        except ValueError:
            return False
        host = target.hostname or ""
        if (host, port) == (played.hostname, _port(played)):
            return True
        if service := service_of(host):
            return await _serves(kube, *service, port)
        return any(calls_itself(pod, host) for pod in await _coderd_pods(kube))

    return leads


def service_of(host: str) -> tuple[str, str] | None:
    """Namespace and name of the Service that a name inside the cluster stands for."""
    parts = host.removesuffix(".").removesuffix(".cluster.local").split(".")
    if len(parts) == 3 and parts[2] == "svc":
        return parts[1], parts[0]
    return None


def calls_itself(pod: Object, host: str) -> bool:
    """Whether that is the host of coderd's own access URL."""
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
    """What the API server has there; nothing if it does not answer, or not so."""
    try:
        answer = await kube.get(path, params=query)
    except httpx.HTTPError:
        return {}
    return answer.json() if answer.is_success else {}


def _is_coderd(pod: Object) -> bool:
    return is_running(pod) and pod["metadata"].get("labels", {}).get(COMPONENT) == "coderd"


def _port(url: SplitResult) -> int:
    return url.port or _PORTS.get(url.scheme, 0)
