"""Requests of the sandbox to its API server: readiness, and the node."""

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
    """Return a client for a kubeconfig of this sandbox, which has a token and a CA file."""
    return httpx.Client(**_settings(kubeconfig))


def async_client(kubeconfig: Path) -> httpx.AsyncClient:
    """Return an async client for a kubeconfig of this sandbox."""
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
        # A proxy in the user's environment must not handle 127.0.0.1.
        "trust_env": False,
    }


def is_ready(http: httpx.Client) -> bool:
    """Return whether the API server reports that it is ready."""
    try:
        return http.get("/readyz").is_success
    except httpx.HTTPError:
        return False


def ensure_node(http: httpx.Client) -> None:
    """Register the node, unless it exists."""
    if http.get(f"/api/v1/nodes/{NODE}").is_success:
        return
    http.post("/api/v1/nodes", json=node()).raise_for_status()


def ensure_namespace(http: httpx.Client, name: str) -> None:
    """Create a namespace, unless it exists."""
    if not http.get(f"/api/v1/namespaces/{name}").is_success:
        body = {"metadata": {"name": name}}
        http.post("/api/v1/namespaces", json=body).raise_for_status()


def can_run_pods(http: httpx.Client) -> bool:
    """Return whether pods can run: a ready node without taints, and a service account."""
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
    what: str, is_done: Callable[[], bool], deadline: float, check_running: Callable[[], None]
) -> None:
    """Poll until `is_done`; `check_running` raises if a process has ended."""
    while not is_done():
        check_running()
        if time.monotonic() > deadline:
            raise SandboxError(f"the cluster did not start in time: {what} is missing")
        time.sleep(0.1)
