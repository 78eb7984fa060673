"""Pods as the API server returns them, with the fields that the simulator reads."""

from typing import Any

KEY = {"secretKeyRef": {"name": "eu-provisioner-key", "key": "key"}}


def pod(*args: str, name: str = "eu-1", **more: Any) -> dict[str, Any]:
    """Return a pod; `more`: `env`, `labels`, `ports`, `image`, `phase`, `ending`."""
    meta: dict[str, Any] = {"name": name, "namespace": "coder", "uid": f"uid-{name}"}
    meta["labels"] = more.get("labels", {})
    if more.get("ending"):
        meta["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    container = {
        "name": "coder",
        "image": more.get("image", "ghcr.io/coder/coder:v2.30.0"),
        "args": list(args),
        "env": more.get("env", []),
        "ports": more.get("ports", []),
    }
    status = {"phase": more.get("phase", "Running"), "podIP": "10.0.0.7"}
    return {"metadata": meta, "spec": {"containers": [container]}, "status": status}


def daemon(name: str = "eu-1", **more: Any) -> dict[str, Any]:
    env = [{"name": "CODER_PROVISIONER_DAEMON_KEY", "valueFrom": KEY}]
    return pod("provisionerd", "start", name=name, **{"env": env, **more})


def coderd(name: str = "coder-1", **more: Any) -> dict[str, Any]:
    labels = {"app.kubernetes.io/component": "coderd"}
    ports = [{"name": "http", "containerPort": 8080}]
    return pod("server", name=name, **{"labels": labels, "ports": ports, **more})
