"""The few questions the sandbox itself asks its API server: is it ready, is the node there.

Everything else in the cluster is the program's business.
"""

import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import yaml

from sandbox.cluster.layout import NODE, node
from sandbox.errors import SandboxError


def client(kubeconfig: Path) -> httpx.Client:
    """A client for a kubeconfig of this sandbox (a token and a CA file, nothing else)."""
    return httpx.Client(**_settings(kubeconfig))


def async_client(kubeconfig: Path) -> httpx.AsyncClient:
    """The same for a process that does several things at once."""
    return httpx.AsyncClient(**_settings(kubeconfig))


def _settings(kubeconfig: Path) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load(kubeconfig.read_text())
    cluster = config["clusters"][0]["cluster"]
    token = config["users"][0]["user"]["token"]
    return {
        "base_url": cluster["server"],
        "headers": {"Authorization": f"Bearer {token}"},
        "verify": ssl.create_default_context(cafile=cluster["certificate-authority"]),
        "timeout": 5,
        # A proxy that the user's environment names has no business with 127.0.0.1.
        "trust_env": False,
    }


def answers(http: httpx.Client) -> bool:
    """Whether the API server calls itself ready."""
    try:
        return http.get("/readyz").is_success
    except httpx.HTTPError:
        return False


def ensure_node(http: httpx.Client) -> None:
    """Register the node, if it is not registered yet."""
    if http.get(f"/api/v1/nodes/{NODE}").is_success:
        return
    http.post("/api/v1/nodes", json=node()).raise_for_status()


def takes_pods(http: httpx.Client) -> bool:
    """Whether a pod would run: the node is ready, free of taints, and accounts are handed out."""
    try:
        found = http.get(f"/api/v1/nodes/{NODE}")
        account = http.get("/api/v1/namespaces/default/serviceaccounts/default")
    except httpx.HTTPError:
        return False
    if not (found.is_success and account.is_success):
        return False
    live: dict[str, Any] = found.json()
    conditions: list[dict[str, str]] = live["status"].get("conditions", [])
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready and not live["spec"].get("taints")


def wait_until(
    what: str, happens: Callable[[], bool], deadline: float, alive: Callable[[], None]
) -> None:
    """Poll until it happens; `alive` raises as soon as waiting has become pointless."""
    while not happens():
        alive()
        if time.monotonic() > deadline:
            raise SandboxError(f"the cluster did not come up in time: {what} is not there yet")
        time.sleep(0.1)
