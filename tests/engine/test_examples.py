"""Every example on the real engine, past the policy pack: only where it runs is this test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.example import EXAMPLES, prepared
from tests.engine.guarded import Guarded
from tests.simulation import simulated

pytestmark = pytest.mark.engine


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """Not configured yet; coderd is there, with everything that the examples ask to be there."""
    with simulated(licensed=True) as coderd, deployed(engine, cluster, coderd, tmp_path) as stack:
        stack.give("token", coderd.token)
        yield stack


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_D5_an_example_comes_up_ready_and_past_the_policy_pack(
    stack: Deployed, example: Path
) -> None:
    with prepared(stack, example) as settings:
        guarded = Guarded(stack.project)
        seen = guarded.preview()
        seen.assert_clean()
        parts = {kind: len(settings.get(kind, [])) for kind in ("provisioners", "proxies")}
        assert {step.op for step in seen.changes} == {"create"}
        assert len(seen.of_kind("Deployment")) == 1 + sum(parts.values())
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
