"""Other pods are asked about again: those that never connect fail the update (P4).

The daemons of the pods before are still in coderd's list: it does not know at once that they ended.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.simulation import simulated
from tests.waiting import eventually

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
EU: dict[str, Any] = {"name": "eu", "connectTimeoutSeconds": 8}
SYDNEY: dict[str, Any] = {
    "name": "sydney",
    "accessUrl": "https://sydney.example.com",
    "healthTimeoutSeconds": 5,
}
NOWHERE = "http://nowhere.example.com"


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """One provisioner and one proxy, up and well."""
    with (
        simulated(licensed=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path, provisioners=[EU], proxies=[SYDNEY]) as stack,
    ):
        stack.give("token", coderd.token)
        stack.up()
        assert stack.unmet() == []
        yield stack


def names(stack: Deployed) -> set[str]:
    """Of the pods that run now."""
    return {pod["metadata"]["name"] for pod in stack.pods("eu-provisioner")}


def listed(stack: Deployed) -> set[str]:
    """Of the daemons that coderd lists with the key."""
    keys = stack.coderd.act("GET", "/api/v2/organizations/coder/provisionerkeys/daemons")
    return {daemon["name"] for key in keys for daemon in key["daemons"]}


def test_P4_pods_that_never_connect_fail_the_update_although_those_before_are_still_listed(
    stack: Deployed,
) -> None:
    (key,), before = stack.key_records(), names(stack)
    assert listed(stack) == before

    stack.configure(provisioners=[{**EU, "url": NOWHERE}])
    shown = stack.preview().of_kind("DaemonsConnected")
    assert [(step.op, list(step.properties)) for step in shown] == [("update", ["revision"])]
    said = stack.failure(stack.up)

    assert "Pending: provisioner daemons" in said
    assert "0 of 1 have connected" in said
    assert names(stack).isdisjoint(before), "the pods are others"
    assert listed(stack) == before, "the daemons are not"
    assert "Pending: provisioner daemons" in stack.failure(stack.up), "nor does the next run pass"

    stack.configure(provisioners=[EU])
    stack.up()
    assert eventually(lambda: names(stack) <= listed(stack))
    assert [each.id for each in stack.key_records()] == [key.id], "nothing was rotated"
    assert stack.unmet() == []
    assert stack.preview(refresh=True).changes == []


def test_P4_a_change_of_pods_that_do_connect_is_waited_for_and_settles(stack: Deployed) -> None:
    before = names(stack)
    stack.configure(provisioners=[{**EU, "args": ["--verbose"]}])

    outcome = stack.up()

    assert outcome.ops("DaemonsConnected") == ["update"]
    assert names(stack).isdisjoint(before)
    assert names(stack) <= listed(stack), "they were waited for"
    assert stack.unmet() == []
    assert stack.preview(refresh=True).changes == []


def test_P4_pods_of_a_proxy_that_never_report_are_not_called_healthy(stack: Deployed) -> None:
    stack.configure(proxies=[{**SYDNEY, "primaryUrl": NOWHERE}])
    stack.up()
    status, _ = stack.condition("proxy/sydney", "ProxyHealthy")
    assert status != "True"

    stack.configure(proxies=[SYDNEY])
    stack.up()
    assert stack.condition("proxy/sydney", "ProxyHealthy") == ("True", "Healthy")
    assert stack.preview(refresh=True).changes == []


def test_P3_P4_daemons_are_measured_by_the_coderd_that_was_upgraded(stack: Deployed) -> None:
    """Their own image is pinned: the same pods are behind from now on."""
    version = stack.coderd.state.flags.version.partition("+")[0]
    pinned = {**EU, "image": {"tag": version}}
    stack.configure(provisioners=[pinned], proxies=[])
    stack.up()
    assert stack.condition("provisioner/eu", "DaemonsConnected") == ("True", "Connected")

    before = names(stack)
    upgraded = {**vars(stack.coderd.state.flags), "version": "v2.99.0+simulated"}
    stack.coderd.state.flags = type(stack.coderd.state.flags)(**upgraded)
    stack.configure(controlPlane={"image": {"tag": "v2.99.0"}})
    stack.up()
    assert names(stack) == before
    assert stack.condition("provisioner/eu", "DaemonsConnected") == ("True", "VersionSkew")
