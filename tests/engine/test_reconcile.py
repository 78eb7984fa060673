"""`coder-stack reconcile` on a real engine: repairs drift, within limits, one at a time (D3)."""

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coder_stack.operate.engine.events import EngineRun
from coder_stack.operate.engine.pulumi import Project as EngineProject
from coder_stack.operate.engine.pulumi import StackEngine
from coder_stack.operate.reconcile import Limits, reconcile_stack
from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.drifting import Drifting, drifting
from tests.simulation import simulated

pytestmark = pytest.mark.engine


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Drifting]:
    with (
        simulated() as coderd,
        drifting(engine, cluster, coderd, tmp_path, keys=("eu", "us")) as stack,
    ):
        yield stack


def test_D3_drift_is_repaired_once_and_then_nothing_is_done(stack: Drifting) -> None:
    cluster, path = stack.project.cluster, stack.project.path
    deleted = stack.key("eu").name
    stack.coderd.act("DELETE", f"/api/v2/organizations/coder/provisionerkeys/{deleted}")
    other = base64.b64encode(b"not-what-coderd-knows").decode()
    cluster.patch(path("secrets", "us-provisioner-key"), {"data": {"key": other}})
    cluster.patch(path("deployments", "coder"), {"spec": {"replicas": 3}})

    code, report = stack.report("reconcile")

    assert (code, report["result"], report["repaired"]) == (0, "clean", True)
    assert stack.key("eu"), "made anew"
    restored = cluster.get(path("secrets", "us-provisioner-key"))
    assert restored is not None
    assert restored["data"]["key"] != other
    deployment = cluster.get(path("deployments", "coder"))
    assert deployment is not None
    assert deployment["spec"]["replicas"] == 0

    before = stack.files()
    code, report = stack.report("reconcile")
    assert (code, report["result"], report["repaired"]) == (0, "clean", False)
    assert stack.files() == before, "there was no update"


def test_D3_what_a_rule_ignores_is_left_alone_by_the_repair_of_something_else(
    stack: Drifting,
) -> None:
    cluster, deployment = stack.project.cluster, stack.project.path("deployments", "coder")
    scaling = {"properties": ["spec.replicas"], "reason": "the autoscaler's", "until": "2999-12-31"}
    stack.rules(ignore=[{"resource": "*:Deployment", **scaling}])

    def replicas() -> int:
        found = cluster.get(deployment)
        assert found is not None
        return found["spec"]["replicas"]

    cluster.patch(deployment, {"spec": {"replicas": 3}})
    cluster.delete(stack.project.path("secrets", "eu-provisioner-key"))
    code, report = stack.report("reconcile")
    assert (code, report["result"], report["repaired"]) == (0, "clean", True)
    (ignored,) = report["resources"]
    assert ignored["ignored_by"] == "the autoscaler's"
    assert cluster.get(stack.project.path("secrets", "eu-provisioner-key"))
    assert replicas() == 3

    container = {"name": "coder", "image": "example.invalid/other:1"}
    cluster.patch(deployment, {"spec": {"template": {"spec": {"containers": [container]}}}})
    code, report = stack.report("reconcile")
    assert (code, report["result"], report["resources"]) == (0, "clean", [])
    assert replicas() == 0, "one resource is repaired as a whole"


@dataclass(frozen=True)
class Worsening(StackEngine):
    """The real engine; once, somebody acts after the look and before the update."""

    acts: list[Callable[[], object]] = field(default_factory=list[Callable[[], object]])

    def up(self, **chosen: Any) -> EngineRun:
        while self.acts:
            self.acts.pop()()
        return super().up(**chosen)


def test_D3_what_gets_worse_after_the_look_does_not_go_beyond_the_limits(
    stack: Drifting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One replacement is allowed and looked at; then a second key needs one, and a Secret is gone.

    The look's own is made whole. The Secret is a repair for the next round, the second key is not.
    """
    for name, value in stack.project.environment.items():
        monkeypatch.setenv(name, value)
    cluster, secret = stack.project.cluster, stack.project.path("secrets", "eu-provisioner-key")
    eu, us = stack.key("eu"), stack.key("us")
    eu.tags = {"region": "moon"}

    def worse() -> None:
        us.tags = {"region": "moon"}
        cluster.delete(secret)

    project = EngineProject.at(stack.project.folder)
    engine = Worsening(project, stack.project.stack.name, acts=[worse])

    report = reconcile_stack(engine, Limits(max_replaces=1))

    assert (report.result, report.repaired) == ("drift", True)
    assert report.refused is not None
    assert report.refused.startswith("Not repaired: the update would replace 1 resource after 1 ")
    assert [each.name for each in report.resources] == ["us-key"]
    assert stack.key("eu").id != eu.id, "replaced"
    assert cluster.get(secret), "and handed out"
    assert stack.key("us").id == us.id, "not touched"

    code, after = stack.report("reconcile")
    assert (code, after["result"], after["repaired"]) == (0, "clean", True)
    assert stack.key("us").tags["region"] == "eu"


def test_D3_limits_and_locks_are_kept(stack: Drifting) -> None:
    """Two keys that the config no longer has would be deleted, with their Secrets."""
    stack.set_config(keys="[]")
    stack.rules(maxDeletes=1)
    before = stack.files()

    refused = stack.command("reconcile")
    assert refused.returncode == 2
    assert "Not repaired: the update would delete " in refused.stdout
    assert "(allowed: 1; see --max-deletes)" in refused.stdout
    lock = stack.lock()
    locked = stack.command("reconcile", "--max-deletes", "20")
    lock.unlink()
    assert locked.returncode == 1
    assert "held by ann@laptop (pid 4242) since 2026-01-01T00:00:00Z" in locked.stdout
    assert stack.files() == before

    assert stack.command("reconcile", "--max-deletes", "20").returncode == 0
    assert stack.coderd.state.records.provisioner_keys == {}
