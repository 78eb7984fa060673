"""The whole stack as one test sees it: engine, API server, simulated coderd, and pods that act.

Containers do not run in the cluster of the tests. The sandbox's agents play them: a daemon or a
proxy is connected only while a Running pod holds a secret that coderd accepts.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.engine import Engine
from sandbox.pods import simulate_pods
from tests.cluster_access import Cluster
from tests.engine.operated import Operated
from tests.engine_project import Project
from tests.simulation import Simulation

_SECRET = "1b47061264138c4ac30d75fd1eb44270"
# Shorter ones are empty values and words like `true`, which are everywhere.
_SHORTEST = 12


@dataclass
class Deployed(Operated):
    """A stack of the real program, and everything behind its back."""

    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    def configure(self, **settings: Any) -> None:
        """Change parts of the config; the rest stays."""
        self.settings |= settings
        plane = self.settings.get("controlPlane", {})
        others = {k: v for k, v in self.settings.items() if k != "controlPlane"}
        self.project.configure(plane, **others)

    def condition(self, component: str, kind: str) -> tuple[str, str]:
        """Status and reason."""
        (found,) = [
            each
            for each in self.project.details()["conditions"]
            if (each["component"], each["type"]) == (component, kind)
        ]
        return found["status"], found["reason"]

    def unmet(self) -> list[str]:
        """Conditions that do not hold, as `provisioner/eu DaemonsConnected TooFew`."""
        return [
            f"{each['component']} {each['type']} {each['reason']}"
            for each in self.project.details()["conditions"]
            if each["status"] != "True"
        ]

    def key_records(self, organization: str = "") -> list[Any]:
        """The provisioner keys that coderd has."""
        records = self.coderd.state.records
        wanted = {o.id for o in records.organizations.values() if o.name == organization}
        return [
            key
            for key in records.provisioner_keys.values()
            if not organization or key.organization_id in wanted
        ]

    def secret(self, name: str) -> dict[str, Any] | None:
        return self.project.cluster.get(self.project.path("secrets", name))

    def written(self, name: str = "eu-provisioner-key", key: str = "key") -> str:
        """What a Secret holds."""
        secret = self.secret(name)
        assert secret is not None
        return base64.b64decode(secret["data"][key]).decode()

    def pods(self, name: str) -> list[dict[str, Any]]:
        """Those of one Deployment that are not on their way out."""
        listed = self.project.cluster.get(self.project.path("pods"))
        assert listed is not None
        return [
            pod
            for pod in listed["items"]
            if pod["metadata"]["name"].startswith(f"{name}-")
            and "deletionTimestamp" not in pod["metadata"]
        ]

    def assert_nothing_leaked(self) -> None:
        """Every secret that the state holds, decrypted, is nowhere in plain text."""
        self.secrets |= set(_plaintexts(self.project.state()))
        super().assert_nothing_leaked()


def _plaintexts(value: object) -> Iterator[str]:
    """The Automation API exports a state with its secrets decrypted, each marked as one."""
    if isinstance(value, dict):
        marked: dict[str, Any] = value
        if _SECRET in marked.values():
            yield from _texts(json.loads(marked.get("plaintext") or "null"))
        for each in marked.values():
            yield from _plaintexts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _plaintexts(each)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str) and len(value) >= _SHORTEST:
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)


@contextmanager
def deployed(
    engine: Engine,
    cluster: Cluster,
    coderd: Simulation,
    folder: Path,
    name: str = "",
    **settings: Any,
) -> Iterator[Deployed]:
    """The stack, configured and not yet up. At the end nothing of it may have leaked."""
    project = Project.create(engine, cluster, folder, coderd_url=coderd.url, name=name)
    stack = Deployed(project, coderd)
    stack.configure(**settings)
    with simulate_pods(cluster.kubeconfig, project.namespace, coderd.url):
        try:
            yield stack
            stack.assert_nothing_leaked()
        finally:
            project.clean_up()
