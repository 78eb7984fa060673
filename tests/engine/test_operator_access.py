"""Operator access on a real engine: bootstrap of a fresh coderd, renewal, given tokens, destroy."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.engine.operated import Operated, operated
from tests.provider.api_server import ApiServer, api_server
from tests.simulation import license_text, simulated

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
HOME = "coder/coder-operator"
PASSWORD = "Correct-Horse-Battery-1!"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ApiServer]:
    with api_server(tmp_path) as server:
        yield server


@pytest.fixture
def stack(engine: Engine, cluster: ApiServer, tmp_path: Path) -> Iterator[Operated]:
    """A coderd that nobody has set up yet, and a stack with a license for it."""
    with simulated(fresh=True) as coderd, operated(engine, coderd, tmp_path) as stack:
        stack.give("jwt", license_text())
        stack.give("initialPassword", PASSWORD)
        namespace, _, name = HOME.partition("/")
        place = {"namespace": namespace, "name": name, "key": "token"}
        home = json.dumps({"kubeconfig": cluster.kubeconfig, **place})
        stack.set_config(home=home)
        yield stack


def revoke_all_tokens(stack: Operated) -> None:
    """As an administrator in the dashboard would; expiry looks the same to us."""
    stack.coderd.state.records.api_keys.clear()


def token_names(stack: Operated) -> list[str]:
    return [key.token_name for key in stack.coderd.state.records.api_keys.values()]


def refresh_without_the_program(stack: Operated) -> Any:
    return stack.project.pulumi("refresh", "--yes", "--skip-preview")


def test_CP6_CP10_one_up_bootstraps_and_licenses_a_fresh_coderd_and_keeps_no_token(
    stack: Operated, cluster: ApiServer
) -> None:
    stack.up()
    records = stack.coderd.state.records
    assert [user.username for user in records.users.values()] == ["admin"]
    assert token_names(stack) == ["coder-stack"]
    outputs = stack.project.outputs()
    assert (outputs["user"], outputs["tier"]) == ("admin", "premium")
    assert stack.preview().changes == []
    assert stack.preview(refresh=True).changes == []

    token = cluster.text(HOME, "token")
    assert token is not None
    stack.secrets.add(token)
    state = stack.project.state()
    assert token not in json.dumps(state), "not even encrypted"
    ours = [r for r in state["resources"] if r["type"].startswith("pulumi-python:dynamic/coder:")]
    assert PASSWORD not in json.dumps(ours), "it is declared in the config, and is nowhere else"


def test_CP10_a_revoked_token_is_replaced_by_a_plain_up_and_nothing_else_changes(
    stack: Operated, cluster: ApiServer
) -> None:
    stack.up()
    old = cluster.text(HOME, "token")
    revoke_all_tokens(stack)

    assert [(step.op, step.name) for step in stack.preview().changes] == [("update", "access")]
    assert [(step.op, step.name) for step in stack.up().changes] == [("update", "access")]
    assert cluster.text(HOME, "token") != old
    assert stack.preview().changes == []
    refresh_without_the_program(stack)
    assert stack.preview(refresh=True).changes == []


def test_CP10_a_look_at_a_revoked_token_makes_none_and_an_update_with_refresh_repairs_it(
    stack: Operated,
) -> None:
    stack.up()
    revoke_all_tokens(stack)
    stack.coderd.forget_requests()
    said = stack.failure(lambda: stack.preview(refresh=True))
    assert "coderd did not accept the session token" in said
    assert {request.split(" ")[0] for request in stack.coderd.requests()} == {"GET"}

    stack.up(refresh=True)
    assert token_names(stack) == ["coder-stack"]
    assert stack.preview(refresh=True).changes == []


def test_CP10_a_destroy_with_a_revoked_token_logs_in_and_leaves_nothing(
    stack: Operated, cluster: ApiServer
) -> None:
    stack.up()
    revoke_all_tokens(stack)
    outcome = stack.destroy()
    assert "remove it by hand" not in outcome.text
    assert (stack.coderd.license_ids(), token_names(stack)) == ([], [])
    assert HOME not in cluster.secrets


def test_CP9_destroy_and_up_on_the_same_database(stack: Operated) -> None:
    stack.up()
    stack.destroy()
    stack.up()
    assert stack.project.outputs()["tier"] == "premium"
    assert token_names(stack) == ["coder-stack"]


def test_CP6_a_changed_given_token_is_a_change_of_operator_access_alone(
    stack: Operated, cluster: ApiServer
) -> None:
    stack.up()
    with_roles = {"username": "robot", "roles": ["owner"]}
    first = _make_user(stack, with_roles)
    stack.give("token", first)
    stack.up()
    assert stack.project.outputs()["user"] == "robot"
    assert ("coder-stack" in token_names(stack), HOME in cluster.secrets) == (False, False), (
        "nothing of the one that was made is left"
    )
    stack.give("token", _make_user(stack, {**with_roles, "username": "android"}))

    # Pulumi keeps the whole config as inputs of its default provider, which changes with it.
    changes = [s for s in stack.preview().changes if not s.type.startswith("pulumi:providers:")]
    assert [(step.name, list(step.properties)) for step in changes] == [("access", ["given"])]
    stack.up()
    assert stack.project.outputs()["user"] == "android"
    assert stack.preview(refresh=True).changes == []


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


def _make_user(stack: Operated, body: dict[str, Any]) -> str:
    return stack.coderd.act("POST", "/_sim/users", body)["token"]
