"""Deployments and Secrets like those of the components, in a namespace for one test."""

import base64
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.cluster_access import Cluster
from tests.waiting import eventually


@dataclass(frozen=True)
class Workloads:
    """A namespace for one test."""

    cluster: Cluster
    namespace: str

    def secret(self, name: str, **data: str) -> None:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
        self._post("/api/v1", "secrets", {"metadata": {"name": name}, "data": encoded})

    def deployment(self, name: str, *args: str, **more: Any) -> str:
        """Create a Deployment, and return its path; `more`: `env`, `labels`, `ports`."""
        labels = {"app": name, **more.get("labels", {})}
        container = {
            "name": "coder",
            "image": "ghcr.io/coder/coder:v2.30.0",
            "args": list(args),
            "env": more.get("env", []),
            "ports": more.get("ports", []),
        }
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
        return self._post(
            "/apis/apps/v1", "deployments", {"metadata": {"name": name}, "spec": spec}
        )

    def service(self, name: str, target: str) -> None:
        port = {"name": "http", "port": 80, "targetPort": "http"}
        spec = {"selector": {"app": target}, "ports": [port]}
        self._post("/api/v1", "services", {"metadata": {"name": name}, "spec": spec})

    def scale(self, deployment: str, replicas: int) -> None:
        self.cluster.patch(deployment, {"spec": {"replicas": replicas}})

    def _post(self, group: str, kind: str, manifest: dict[str, Any]) -> str:
        path = f"{group}/namespaces/{self.namespace}/{kind}"
        with self.cluster.http() as http:
            http.post(path, json=manifest).raise_for_status()
        return f"{path}/{manifest['metadata']['name']}"


@contextmanager
def workloads(cluster: Cluster) -> Iterator[Workloads]:
    name = f"pods-{secrets.token_hex(4)}"
    with cluster.http() as http:
        http.post("/api/v1/namespaces", json={"metadata": {"name": name}}).raise_for_status()
    # Pods need the service account, which is created shortly after the namespace.
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    assert eventually(lambda: cluster.get(account))
    yield Workloads(cluster, name)
    cluster.delete(f"/api/v1/namespaces/{name}")
