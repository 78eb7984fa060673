"""`coder-stack watch` on a real engine and a real API server (N1-N3)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.drifting import Drifting, drifting
from tests.engine.watching import page, watching
from tests.simulation import simulated

pytestmark = pytest.mark.engine


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Drifting]:
    with (
        simulated() as coderd,
        drifting(engine, cluster, coderd, tmp_path, keys=("eu", "us"), proxies=("paris",)) as stack,
    ):
        yield stack


def test_N1_N3_drift_is_noticed_named_and_repaired(stack: Drifting) -> None:
    cluster, path = stack.project.cluster, stack.project.path
    with watching(stack, "--repair", "--interval", "5", "--listen", "127.0.0.1:0") as watcher:
        port = watcher.port
        watcher.said("checked: clean")
        assert page(port, "/readyz").status_code == 200

        cluster.patch(path("deployments", "coder"), {"spec": {"replicas": 3}})
        watcher.said("noticed: deployments/coder looks different", 5)
        watcher.said("named after")
        watcher.said("repaired after")
        deployment = cluster.get(path("deployments", "coder"))
        assert deployment is not None
        assert deployment["spec"]["replicas"] == 0

        deleted = stack.key("eu").name
        stack.coderd.act("DELETE", f"/api/v2/organizations/coder/provisionerkeys/{deleted}")
        watcher.said(f"noticed: key `{deleted}`", 9)
        watcher.said("repaired after")
        assert stack.key("eu")

        metrics = page(port, "/metrics").text
        name = stack.project.stack.name
        assert f'coder_stack_watch_repaired_total{{stack="{name}"}} ' in metrics
    assert watcher.process.returncode == 143
    assert "interrupted; no lock is left" in watcher.text
