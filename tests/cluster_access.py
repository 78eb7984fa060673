"""The API server of a test, for reading and changing objects without Pulumi."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from sandbox.cluster import api, ports
from sandbox.cluster.layout import Layout
from sandbox.cluster.process import ClusterProcess
from sandbox.paths import SandboxPaths
from tests.waiting import eventually


@dataclass(frozen=True)
class Cluster:
    """Reads and changes objects of an API server directly, not through Pulumi."""

    kubeconfig: Path

    @contextmanager
    def http(self) -> Iterator[httpx.Client]:
        with api.client(self.kubeconfig) as client:
            yield client

    def get(self, path: str) -> dict[str, Any] | None:
        """Return the object, or None if the API server says that there is none."""
        with self.http() as http:
            answer = http.get(path)
            if answer.status_code == httpx.codes.NOT_FOUND:
                return None
            answer.raise_for_status()
            return answer.json()

    def names(self, path: str) -> list[str]:
        listed = self.get(path)
        assert listed is not None, path
        return [item["metadata"]["name"] for item in listed["items"]]

    def patch(self, path: str, change: dict[str, Any], manager: str = "kubectl-set") -> None:
        """Send a strategic merge under another manager's name, as kubectl does."""
        with self.http() as http:
            http.patch(
                path,
                json=change,
                params={"fieldManager": manager},
                headers={"Content-Type": "application/strategic-merge-patch+json"},
            ).raise_for_status()

    def create(self, path: str, content: dict[str, Any]) -> None:
        with self.http() as http:
            http.post(path, json=content).raise_for_status()

    def delete(self, path: str) -> None:
        with self.http() as http:
            http.delete(path).raise_for_status()


@dataclass(frozen=True)
class OwnCluster(Cluster):
    """A cluster whose API server may be killed."""

    home: SandboxPaths
    programs: dict[str, Path]

    def kill_api_server(self) -> None:
        """Kill the API server and start it again, as a kubelet does."""
        self.stop_api_server()
        self._start_api_server()

    def stop_api_server(self) -> None:
        """Kill the API server and leave it so; `wait` starts it again."""
        process = self._api_server.process()
        if process is not None:
            process.kill()
            assert eventually(lambda: self._api_server.process() is None)

    def wait(self) -> None:
        """Wait until the API server answers again."""
        with api.client(self.kubeconfig) as http:
            assert eventually(lambda: api.is_ready(http) or self._start_again(), 90)

    @property
    def _api_server(self) -> ClusterProcess:
        return ClusterProcess("kube-apiserver", self.home.cluster)

    def _start_again(self) -> bool:
        """Start it again if its port was in use for a moment and it could not listen."""
        if self._api_server.process() is None:
            self._start_api_server()
        return False

    def _start_api_server(self) -> None:
        known = ports.load(self.home.cluster)
        layout = Layout(self.home.cluster, known, self.programs)
        self._api_server.start(layout.command(self._api_server.name))
