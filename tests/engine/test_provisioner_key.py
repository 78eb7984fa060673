"""Provisioner keys on a real engine: each drift of K3, its repair, rotation, gate, destroy."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.engine.operated import Operated, licensed
from tests.engine_outcome import Outcome
from tests.simulation import simulated

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
PROGRAM = """
import pulumi
from coder_stack.dynamic.provisioner_key import ProvisionerKey

config = pulumi.Config()
key = ProvisionerKey(
    "key",
    connection={"url": config.require("url")},
    organization="coder",
    base_name="fleet",
    exact_name=config.get_bool("exact") or False,
    tags=config.get_object("tags") or {"region": "eu", "size": "big"},
    deployment_id=config.require("deployment"),
    trigger=config.get("trigger"),
    rotate_after_days=config.get_int("days"),
    enabled=config.get_bool("closed") is not True,
)
for name in ("key_id", "name", "material", "material_sha256", "reason", "deferred"):
    pulumi.export(name, getattr(key, name))
"""
KIND = "ProvisionerKey"
KEYS = "/api/v2/organizations/coder/provisionerkeys"


@pytest.fixture
def stack(engine: Engine, tmp_path: Path) -> Iterator[Operated]:
    """A licensed coderd and a stack with one key in it, not yet deployed."""
    with licensed(engine, tmp_path, PROGRAM) as stack:
        yield stack


def deploy(stack: Operated, *, refresh: bool = False) -> Outcome:
    """Run `up`; from then on the material counts as a secret that must not be seen."""
    outcome = stack.up(refresh=refresh)
    stack.secrets.add(str(stack.project.outputs()["material"]))
    return outcome


def live(stack: Operated) -> Any:
    """Return the one key that coderd has."""
    (key,) = stack.coderd.state.records.provisioner_keys.values()
    return key


def assert_repaired(stack: Operated) -> None:
    """Check that coderd has one key, accepts the stack's material, and nothing is left to do."""
    outputs = stack.project.outputs()
    assert outputs["key_id"] == live(stack).id
    assert stack.coderd.key_of(outputs["material"]) == live(stack).name
    assert stack.preview(refresh=True).changes == []


def calls(stack: Operated) -> list[str]:
    """Return the methods of the requests that changed keys in coderd, in order."""
    return [call.split(" ")[0] for call in stack.coderd.requests(path=KEYS) if "GET" not in call]


def test_K1_up_makes_one_key_and_is_then_done(stack: Operated) -> None:
    deploy(stack)
    assert_repaired(stack)
    assert stack.preview().changes == []
    assert stack.up(refresh=True).changes == []
    assert calls(stack) == ["POST"]


def test_K3_a_key_deleted_in_coderd_is_made_again(stack: Operated) -> None:
    deploy(stack)
    stack.coderd.act("DELETE", f"{KEYS}/{live(stack).name}")
    assert stack.preview(refresh=True).ops(KIND) == ["create"]
    deploy(stack, refresh=True)
    assert_repaired(stack)


@pytest.mark.parametrize(
    ("edit", "properties"),
    [
        # A key that takes another one's place has a name of its own (K9).
        ({"tags": {"size": "big", "region": "us"}}, {"tags", "name"}),
        ({"name": "renamed"}, {"name", "base_name"}),
        ({"secret_hash": "that of another secret"}, {"material_valid"}),
    ],
    ids=["tags", "name", "material"],
)
def test_K3_what_differs_in_coderd_is_named_and_repaired_by_a_new_key(
    stack: Operated, edit: dict[str, Any], properties: set[str]
) -> None:
    deploy(stack)
    before = live(stack).id
    for name, value in edit.items():
        setattr(live(stack), name, value)

    seen = stack.preview(refresh=True)

    assert seen.properties(KIND) == properties
    assert "replace" in seen.ops(KIND)
    deploy(stack, refresh=True)
    assert live(stack).id != before
    assert_repaired(stack)


def test_K3_the_order_of_tags_is_no_difference(stack: Operated) -> None:
    deploy(stack)
    live(stack).tags = dict(reversed(live(stack).tags.items()))
    stack.set_config(tags='{"size": "big", "region": "eu"}')
    assert stack.preview(refresh=True).ops(KIND) == []


def test_K3_another_deployment_is_named_and_the_old_key_is_deleted_where_it_was(
    stack: Operated,
) -> None:
    deploy(stack)
    with simulated(licensed=True) as other:
        stack.set_config(url=other.url, deployment=other.state.records.deployment_id)
        stack.give("token", other.token)
        assert stack.preview().properties(KIND) == {"connection", "deployment_id", "name"}
        deploy(stack)
        assert len(other.state.records.provisioner_keys) == 1
        assert stack.coderd.state.records.provisioner_keys == {}
        assert stack.preview(refresh=True).changes == []


def test_U1_a_refresh_that_gets_no_answer_changes_nothing(stack: Operated) -> None:
    deploy(stack)
    before = stack.resources()["key"]["outputs"]
    for status in (401, 403, 404, 429, 500, 503):
        headers = {"Retry-After": "60"}
        stack.coderd.fault("status", f"{KEYS}/daemons", status=status, count=-1, headers=headers)
        said = stack.failure(lambda: stack.up(refresh=True))
        stack.coderd.peace()
        assert 'provisioner key "fleet-' in said
        after = stack.resources()["key"]["outputs"]
        assert after.keys() == before.keys()
        assert after["key_id"] == before["key_id"]
    assert calls(stack) == ["POST"]
    assert_repaired(stack)


def test_K5_a_trigger_rotates_without_a_gap(stack: Operated) -> None:
    deploy(stack)
    before = live(stack).id
    stack.set_config(trigger="leaked")
    assert stack.preview().properties(KIND) == {"trigger", "name"}
    deploy(stack)
    assert live(stack).id != before
    assert calls(stack) == ["POST", "POST", "DELETE"], "the new key is there before the old goes"
    assert_repaired(stack)


def test_K5_an_exact_name_is_freed_first(stack: Operated) -> None:
    stack.set_config(exact="true")
    deploy(stack)
    assert live(stack).name == "fleet"
    stack.set_config(trigger="leaked")
    deploy(stack)
    assert calls(stack) == ["POST", "DELETE", "POST"]
    assert_repaired(stack)


def test_K5_an_old_key_is_rotated_and_a_young_one_is_not(stack: Operated) -> None:
    stack.set_config(days="30")
    deploy(stack)
    assert stack.preview().changes == []
    grow_old(stack)
    assert stack.preview().properties(KIND) == {"issued_on", "name"}
    deploy(stack)
    assert_repaired(stack)


def grow_old(stack: Operated) -> None:
    """Change the state as if the key had been issued long ago."""
    exported = stack.project.stack.export_stack()
    deployment: Any = exported.deployment
    for resource in deployment["resources"]:
        if resource["type"].endswith(KIND):
            resource["inputs"]["issued_on"] = resource["outputs"]["issued_on"] = "2020-01-01"
    stack.project.stack.import_stack(exported)


def test_E4_E5_the_gate_opens_by_itself_and_closing_it_keeps_the_key(stack: Operated) -> None:
    stack.set_config(closed="true")
    stack.up()
    assert stack.project.outputs()["reason"] == "NotEntitled"
    assert stack.preview(refresh=True).changes == []
    assert stack.coderd.requests() == []

    stack.set_config(closed="false")
    deploy(stack)
    assert_repaired(stack)

    before = live(stack).id
    stack.coderd.lose_licenses()
    stack.set_config(closed="true", trigger="due")
    deploy(stack, refresh=True)
    outputs = stack.project.outputs()
    assert (outputs["reason"], outputs["deferred"]) == ("NotEntitled", ["trigger"])
    assert live(stack).id == before
    assert stack.preview(refresh=True).changes == []


def test_K6_destroy_leaves_no_key(stack: Operated) -> None:
    deploy(stack)
    stack.destroy()
    assert stack.coderd.state.records.provisioner_keys == {}


def test_K6_a_coderd_that_does_not_answer_blocks_no_destroy(stack: Operated) -> None:
    deploy(stack)
    name = live(stack).name
    stack.coderd.fault("drop_before", "*", count=-1)
    said = stack.destroy().text
    assert f'provisioner key "{name}"' in said
    assert stack.resources() == {}
