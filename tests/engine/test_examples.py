"""Every example on the real engine, past the policy pack: only where it runs is this test's own."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster, OwnCluster
from tests.database_operator import database_operator
from tests.engine.deployed import Deployed, deployed
from tests.engine.example import prepared
from tests.engine.guarded import Guarded
from tests.example_files import EXAMPLES
from tests.simulation import simulated

pytestmark = pytest.mark.engine
WITH_DATABASE = [example for example in EXAMPLES if "cloudNativePg:" in example.read_text()]
IN_TWO_CLUSTERS = [
    example for example in EXAMPLES if "coder-stack:clusters:" in example.read_text()
]


@pytest.fixture
def stack(
    engine: Engine, request: pytest.FixtureRequest, example: Path, tmp_path: Path
) -> Iterator[Deployed]:
    """Not configured yet; coderd is there, with everything that the examples ask to be there."""
    extended = example in WITH_DATABASE
    cluster: Cluster = request.getfixturevalue("extended_cluster" if extended else "cluster")
    with simulated(licensed=True) as coderd, deployed(engine, cluster, coderd, tmp_path) as stack:
        stack.give("token", coderd.token)
        with database_operator(cluster, stack.project.namespace) if extended else nullcontext():
            yield stack


@pytest.fixture
def far(request: pytest.FixtureRequest, example: Path) -> OwnCluster | None:
    """The second cluster of an example that has one."""
    if example not in IN_TWO_CLUSTERS:
        return None
    far: OwnCluster = request.getfixturevalue("mortal_cluster")
    far.wait()
    return far


def on_its_cluster(example: Path) -> Any:
    """An API server of its own is started by one worker only."""
    groups = {"extended": WITH_DATABASE, "clusters": IN_TWO_CLUSTERS}
    marks = [pytest.mark.xdist_group(name) for name, used in groups.items() if example in used]
    return pytest.param(example, marks=marks, id=example.stem)


@pytest.mark.parametrize("example", [on_its_cluster(each) for each in EXAMPLES])
def test_D5_an_example_comes_up_ready_and_past_the_policy_pack(
    stack: Deployed, example: Path, far: OwnCluster | None
) -> None:
    with prepared(stack, example, far) as settings:
        guarded = Guarded(stack.project)
        seen = guarded.preview()
        seen.assert_clean()
        parts = {kind: len(settings.get(kind, [])) for kind in ("provisioners", "proxies")}
        assert {step.op for step in seen.changes} == {"create"}
        deploys = settings["controlPlane"].get("deploy", True)
        assert len(seen.of_kind("Deployment")) == deploys + sum(parts.values())
        assert len(seen.of_kind("ProvisionerKey")) == parts["provisioners"]
        assert len(seen.of_kind("WorkspaceProxyRegistration")) == parts["proxies"]
        assert len(seen.of_kind("License")) == ("license" in settings)
        assert stack.coderd.requests("POST", "/provisionerkeys") == [], "a preview changes nothing"

        guarded.up().assert_clean()
        assert stack.unmet() == []
        again = guarded.preview()
        again.assert_clean()
        assert again.changes == []
        stack.destroy()
