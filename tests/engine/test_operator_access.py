"""Operator access on a real engine: bootstrap of a fresh coderd, renewal, given tokens, destroy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.engine.operated import Operated, operated
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine


@pytest.fixture
def stack(engine: Engine, tmp_path: Path) -> Iterator[Operated]:
    """A coderd that nobody has set up yet, and a stack with a license for it."""
    with simulated(fresh=True) as coderd, operated(engine, coderd, tmp_path) as stack:
        stack.give("jwt", license_text())
        yield stack


def is_secret(value: object) -> bool:
    """As Pulumi marks what it keeps encrypted."""
    return isinstance(value, dict) and "4dabf18193072939515e22adb298388d" in value


def revoke_all_tokens(stack: Operated) -> None:
    """As an administrator in the dashboard would; expiry looks the same to us."""
    stack.coderd.world.records.api_keys.clear()


def test_CP6_one_up_bootstraps_and_licenses_a_fresh_coderd(stack: Operated) -> None:
    stack.up()
    records = stack.coderd.world.records
    assert [user.username for user in records.users.values()] == ["admin"]
    assert [key.token_name for key in records.api_keys.values()] == ["coder-stack"]
    outputs = stack.project.outputs()
    assert (outputs["user"], outputs["tier"]) == ("admin", "premium")
    assert stack.preview().changes == []
    assert stack.preview(refresh=True).changes == []
    access = stack.resources()["access"]["outputs"]
    assert all(map(is_secret, (access["token"], access["password"])))
    assert is_secret(stack.resources()["license"]["outputs"]["token"])
    assert "token" not in stack.resources()["license"]["inputs"]


def test_CP6_a_revoked_token_is_replaced_by_a_plain_up_and_nothing_else_changes(
    stack: Operated,
) -> None:
    stack.up()
    old = stack.project.outputs()["token"]
    revoke_all_tokens(stack)

    assert [(step.op, step.name) for step in stack.preview().changes] == [("update", "access")]
    assert [(step.op, step.name) for step in stack.up().changes] == [("update", "access")]
    assert stack.project.outputs()["token"] != old
    assert stack.preview().changes == []
    assert stack.preview(refresh=True).changes == []


def test_CP6_a_revoked_token_is_replaced_by_a_refresh_and_destroy_can_log_in(
    stack: Operated,
) -> None:
    stack.up()
    revoke_all_tokens(stack)
    stack.refresh()
    stack.destroy()
    records = stack.coderd.world.records
    assert stack.coderd.license_ids() == []
    assert [key.token_name for key in records.api_keys.values() if key.token_name] == []


def test_CP6_a_changed_given_token_is_a_change_of_operator_access_alone(stack: Operated) -> None:
    stack.up()
    first = stack.project.outputs()["token"]
    other = stack.coderd.act(
        "POST", "/_sim/users", {"username": "robot", "roles": ["owner"]}, token=first
    )["token"]
    stack.give("given", other)

    # Pulumi keeps the whole config as inputs of its default provider, which changes with it.
    changes = [s for s in stack.preview().changes if not s.type.startswith("pulumi:providers:")]
    assert [(step.name, list(step.properties)) for step in changes] == [("access", ["given"])]
    stack.up()
    assert stack.project.outputs()["user"] == "robot"
    assert stack.preview(refresh=True).changes == []
    named = [k.token_name for k in stack.coderd.world.records.api_keys.values() if k.token_name]
    assert named == [], "the token we had made is given back"


def test_U1_CP5_a_coderd_that_is_down_fails_the_refresh_and_keeps_the_state(
    stack: Operated,
) -> None:
    stack.up()
    before = stack.resources()
    stack.coderd.refuse(500, "An internal server error occurred.", "/api/v2/buildinfo", count=-1)
    said = stack.failure(stack.refresh)
    assert "ServerFault: operator access, read: Cannot ask coderd for its build" in said
    stack.coderd.peace()
    assert stack.resources()["access"]["outputs"] == before["access"]["outputs"]
    assert stack.preview(refresh=True).changes == []
