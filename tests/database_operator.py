"""CloudNativePG as a test sees it: it creates the Secret of a Cluster and reports its status.

No PostgreSQL runs. What it writes is spelled as in CloudNativePG's own API.
"""

import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.cluster_access import Cluster

HEALTHY = "Cluster in healthy state"
PASSWORD = "made-up-password-of-the-database"
_CLUSTERS = "/apis/postgresql.cnpg.io/v1"


@dataclass
class DatabaseOperator:
    """Looks after the Clusters of one namespace, or of all that a test creates."""

    cluster: Cluster
    namespace: str
    stuck: str = ""
    """A phase in which every Cluster stays until this is empty again."""
    before_ready: Callable[[], object] = lambda: None
    """Called before a Cluster becomes ready for the first time."""
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        with self.cluster.http() as http:
            while not self.ended.wait(0.2):
                path = f"{_CLUSTERS}/namespaces/{self.namespace}/clusters"
                for found in http.get(path).raise_for_status().json()["items"]:
                    self._reconcile(http, f"{path}/{found['metadata']['name']}", found)

    def _reconcile(self, http: httpx.Client, path: str, found: dict[str, Any]) -> None:
        status, wanted = found.get("status") or {}, found["spec"]["instances"]
        if "deletionTimestamp" in found["metadata"]:
            return
        if self.stuck or not status:
            told = self.stuck or "Setting up primary"
            if status.get("phase") != told:
                self._report(http, path, told, wanted, ready=0)
        elif (status["phase"], status["readyInstances"]) != (HEALTHY, wanted):
            self.before_ready()
            self._create_secret(http, found)
            self._report(http, path, HEALTHY, wanted, ready=wanted)

    def _report(self, http: httpx.Client, path: str, phase: str, wanted: int, ready: int) -> None:
        is_ready = phase == HEALTHY
        condition = {
            "type": "Ready",
            "status": str(is_ready),
            "reason": "ClusterIsReady" if is_ready else "ClusterIsNotReady",
            "message": "Cluster is Ready" if is_ready else "Cluster Is Not Ready",
        }
        status = {
            "phase": phase,
            "instances": wanted,
            "readyInstances": ready,
            "conditions": [condition],
        }
        answer = http.patch(
            f"{path}/status",
            json={"status": status},
            headers={"Content-Type": "application/merge-patch+json"},
        )
        assert answer.is_success or answer.status_code == httpx.codes.NOT_FOUND, answer.text

    def _create_secret(self, http: httpx.Client, found: dict[str, Any]) -> None:
        name, initial = found["metadata"]["name"], found["spec"]["bootstrap"]["initdb"]
        owner = initial["owner"]
        host = f"{name}-rw.{self.namespace}"
        uri = f"postgresql://{owner}:{PASSWORD}@{host}:5432/{initial['database']}"
        data = {"username": owner, "password": PASSWORD, "uri": uri}
        reference = {
            "apiVersion": found["apiVersion"],
            "kind": found["kind"],
            "name": name,
            "uid": found["metadata"]["uid"],
        }
        body = {
            "type": "kubernetes.io/basic-auth",
            "metadata": {"name": f"{name}-app", "ownerReferences": [reference]},
            "data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()},
        }
        answer = http.post(f"/api/v1/namespaces/{self.namespace}/secrets", json=body)
        assert answer.is_success or answer.status_code == httpx.codes.CONFLICT, answer.text


@contextmanager
def database_operator(cluster: Cluster, namespace: str) -> Iterator[DatabaseOperator]:
    """Run it in a thread until the block ends, then raise its error, if any."""
    operator, errors = DatabaseOperator(cluster, namespace), list[BaseException]()

    def run() -> None:
        try:
            operator.run()
        except BaseException as error:  # noqa: BLE001  # raised below
            errors.append(error)

    thread = threading.Thread(target=run, name="database-operator")
    thread.start()
    try:
        yield operator
    finally:
        operator.ended.set()
        thread.join()
    if errors:
        raise errors[0]
