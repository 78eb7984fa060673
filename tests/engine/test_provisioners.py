"""Provisioners on the whole stack: drift of key and Secret, rotation without a gap, moves."""

import base64
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from coder_stack.operate.diagnosis.values import is_unknown
from coder_stack.operate.engine.versions import TRIED
from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.simulation import simulated

pytestmark = pytest.mark.engine
EU: dict[str, Any] = {"name": "eu", "key": {"tags": {"region": "eu"}}}


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """One provisioner, up, with its daemon connected."""
    with (
        simulated(licensed=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path, provisioners=[EU]) as stack,
    ):
        stack.coderd.act("POST", "/api/v2/organizations", {"name": "research"})
        stack.give("token", coderd.token)
        stack.up()
        assert stack.unmet() == []
        stack.coderd.forget_requests()
        yield stack


def changing(stack: Deployed) -> list[tuple[str, datetime]]:
    """What changed keys in coderd, with its time, in order."""
    return [
        (str(entry["method"]), datetime.fromisoformat(str(entry["time"])))
        for entry in stack.coderd.application.log.to_json()
        if "provisionerkeys" in str(entry["path"]) and entry["method"] != "GET"
    ]


def begun(pod: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(pod["metadata"]["creationTimestamp"])


def test_K5_new_tags_bring_a_new_key_before_the_old_one_goes(stack: Deployed) -> None:
    """Key made, Secret written, pods rolled, daemons on it; only then is the old one deleted."""
    (old,) = stack.key_records()
    before = {pod["metadata"]["uid"] for pod in stack.pods("eu-provisioner")}

    stack.configure(provisioners=[{**EU, "key": {"tags": {"region": "us"}}}])
    outcome = stack.up()

    (new,) = stack.key_records()
    assert (new.tags, new.id == old.id) == ({"region": "us"}, False)
    (made, when_made), (deleted, when_deleted) = changing(stack)
    assert (made, deleted) == ("POST", "DELETE")
    (pod,) = [p for p in stack.pods("eu-provisioner") if p["metadata"]["uid"] not in before]
    assert when_made.replace(microsecond=0) <= begun(pod) <= when_deleted
    done = [(step.op, step.type.split(":")[-1]) for step in outcome.changes]
    order = [
        done.index(("create-replacement", "ProvisionerKey")),
        done.index(("update", "Secret")),
        done.index(("update", "Deployment")),
        done.index(("update", "DaemonsConnected")),
        done.index(("delete-replaced", "ProvisionerKey")),
    ]
    assert order == sorted(order)
    (daemon,) = stack.coderd.state.records.daemons.values()
    assert daemon.key_id == new.id
    assert stack.unmet() == []
    assert stack.preview(refresh=True).changes == []


@pytest.mark.parametrize("damage", ["deleted", "other bytes", "no key"])
def test_K4_a_damaged_secret_is_restored_without_rotating(stack: Deployed, damage: str) -> None:
    material, path = stack.written(), stack.project.path("secrets", "eu-provisioner-key")
    other = base64.b64encode(b"not-the-key-that-coderd-knows").decode()
    match damage:
        case "deleted":
            stack.project.cluster.delete(path)
        case "other bytes":
            stack.project.cluster.patch(path, {"data": {"key": other}})
        case _:
            stack.project.cluster.patch(path, {"data": {"key": None, "other": other}})

    (drift,) = stack.preview(refresh=True).of_kind("Secret")
    assert drift.op == ("create" if damage == "deleted" else "update")

    stack.up(refresh=True)
    assert stack.written() == material
    assert changing(stack) == [], "the key itself was well"
    assert stack.preview(refresh=True).changes == []


def test_K3_a_key_deleted_in_coderd_is_made_again_and_the_pods_get_it(stack: Deployed) -> None:
    (old,) = stack.key_records()
    lost = stack.written()
    stack.coderd.act("DELETE", f"/api/v2/organizations/coder/provisionerkeys/{old.name}")

    assert stack.preview(refresh=True).ops("ProvisionerKey") == ["create"]
    stack.refresh()
    if stack.project.state()["manifest"]["version"] == TRIED[0]:
        assert stack.condition("provisioner/eu", "ProvisionerKeyReady") == ("False", "NotFound")
    else:  # newer engines store outputs that depend on something to be created as unknown
        assert is_unknown(stack.project.details()["conditions"])

    stack.up()
    (new,) = stack.key_records()
    assert stack.written() != lost
    (daemon,) = [d for d in stack.coderd.state.records.daemons.values() if d.key_id == new.id]
    assert daemon
    assert stack.unmet() == []


def test_K4_K5_P1_a_move_to_another_organization_secret_and_data_key(stack: Deployed) -> None:
    """The Secret moves without rotating; the organization cannot change without a new key."""
    material = stack.written()
    moved = {**EU, "key": {**EU["key"], "secretName": "elsewhere", "secretKey": "material"}}
    stack.configure(provisioners=[moved])
    stack.up()
    assert stack.written("elsewhere", "material") == material
    assert stack.secret("eu-provisioner-key") is None
    assert changing(stack) == []
    assert stack.unmet() == []

    stack.configure(provisioners=[{**moved, "organization": "research"}])
    stack.up()
    assert stack.key_records("coder") == []
    (key,) = stack.key_records("research")
    assert [method for method, _ in changing(stack)] == ["POST", "DELETE"]
    assert stack.written("elsewhere", "material") != material
    (daemon,) = [d for d in stack.coderd.state.records.daemons.values() if d.key_id == key.id]
    assert daemon
    assert stack.unmet() == []


def test_P2_names_of_63_characters_stay_apart(stack: Deployed) -> None:
    """They differ in their last letter only, which is cut off in every derived name."""
    names = ["p" * 62 + end for end in "ab"]
    long: list[dict[str, Any]] = [
        {"name": name, "key": {"tags": {"n": name[-1]}}} for name in names
    ]
    stack.configure(provisioners=long)
    stack.up()
    assert stack.unmet() == []
    assert {key.tags["n"] for key in stack.key_records()} == {"a", "b"}
    assert all(len(key.name) <= 64 for key in stack.key_records())
    deployments = stack.project.cluster.names(stack.project.path("deployments"))
    assert len(deployments) == 3
    assert all(len(name) <= 63 for name in deployments)
