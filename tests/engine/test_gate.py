"""The license gate on the whole stack: closed, opened by the same command, closed again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine
EU = {"name": "eu", "key": {"tags": {"region": "eu"}}}
SYDNEY = {"name": "sydney", "accessUrl": "https://sydney.example.com"}


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """A provisioner, a proxy and three replicas are wanted; coderd has no license."""
    with (
        simulated() as coderd,
        deployed(
            engine, cluster, coderd, tmp_path,
            controlPlane={"replicas": 3}, provisioners=[EU], proxies=[SYDNEY],
        ) as stack,
    ):  # fmt: skip
        stack.give("token", coderd.token)
        yield stack


def replicas(stack: Deployed, name: str) -> int:
    deployment = stack.project.cluster.get(stack.project.path("deployments", name))
    assert deployment is not None
    return deployment["spec"]["replicas"]


def test_E4_E5_the_gate_follows_the_license_and_the_command_stays_the_same(
    stack: Deployed,
) -> None:
    """One run, since each chapter needs the one before it."""
    # Unlicensed: the update succeeds, nothing was asked of coderd, no pod runs.
    stack.up()
    assert stack.coderd.requests("POST", "/provisionerkeys") == []
    assert stack.coderd.requests("POST", "/workspaceproxies") == []
    assert (replicas(stack, "eu-provisioner"), replicas(stack, "sydney-proxy")) == (0, 0)
    assert replicas(stack, "coder") == 1, "high availability needs a license as well"
    closed = ("False", "NotEntitled")
    assert stack.condition("provisioner/eu", "ExternalProvisionersEntitled") == closed
    assert stack.condition("proxy/sydney", "WorkspaceProxyEntitled") == closed
    assert stack.condition("controlPlane", "HighAvailabilityEntitled") == closed
    assert stack.condition("stack", "Ready")[0] == "False"
    assert stack.preview().changes == [], "the closed gate is a steady state"

    # Licensed: the same command, no flags.
    stack.give("licenseJwt", license_text())
    stack.up()
    stack.up()  # coderd itself can only be scaled by the run after
    assert stack.unmet() == []
    (key,) = stack.key_records()
    assert key.tags == {"region": "eu"}
    assert stack.secret("eu-provisioner-key") is not None
    assert (replicas(stack, "eu-provisioner"), replicas(stack, "coder")) == (1, 3)
    assert stack.preview().changes == []

    # The license is gone: nothing is deleted, and a rotation that is due waits.
    ours = stack.coderd.license_ids()
    for each in ours:
        stack.coderd.act("DELETE", f"/api/v2/licenses/{each}")
    stack.project.stack.remove_config("coder-stack:licenseJwt")
    moved = {**EU, "key": {"tags": {"region": "us"}}}
    stack.configure(provisioners=[moved])
    outcome = stack.up()
    assert stack.key_records() == [key]
    assert (replicas(stack, "eu-provisioner"), replicas(stack, "coder")) == (1, 3)
    assert stack.condition("provisioner/eu", "ExternalProvisionersEntitled") == closed
    assert stack.condition("provisioner/eu", "ProvisionerKeyReady") == ("False", "RotationDeferred")
    assert "deferred until the license allows it again: tags" in outcome.text

    # And back: what waited is done.
    stack.give("licenseJwt", license_text())
    stack.up()
    (key,) = stack.key_records()
    assert key.tags == {"region": "us"}
    assert stack.unmet() == []
