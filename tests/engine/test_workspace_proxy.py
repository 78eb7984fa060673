"""Workspace proxy registrations on a real engine: drift, repair, token rotation, gate, destroy."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.engine.operated import Operated, licensed
from tests.engine_outcome import Outcome

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
PROGRAM = """
import pulumi
from coder_stack.dynamic.workspace_proxy import WorkspaceProxyRegistration

config = pulumi.Config()
proxy = WorkspaceProxyRegistration(
    "proxy",
    connection={"url": config.require("url")},
    name="sydney",
    display_name=config.get("display"),
    icon="/emojis/1f998.png",
    trigger=config.get("trigger"),
    enabled=config.get_bool("closed") is not True,
)
for name in ("proxy_id", "proxy_token", "status", "reason", "deferred"):
    pulumi.export(name, getattr(proxy, name))
"""
KIND = "WorkspaceProxyRegistration"
PROXIES = "/api/v2/workspaceproxies"


@pytest.fixture
def stack(engine: Engine, tmp_path: Path) -> Iterator[Operated]:
    """A licensed coderd and a stack with one proxy in it, not yet deployed."""
    with licensed(engine, tmp_path, PROGRAM) as stack:
        yield stack


def deploy(stack: Operated, *, refresh: bool = False) -> Outcome:
    """Run `up`; from then on the proxy's token counts as a secret that must not be seen."""
    outcome = stack.up(refresh=refresh)
    stack.secrets.add(token(stack))
    return outcome


def token(stack: Operated) -> str:
    return str(stack.project.outputs()["proxy_token"])


def live(stack: Operated) -> Any:
    """Return the one proxy that coderd has."""
    (proxy,) = [p for p in stack.coderd.state.records.proxies.values() if not p.deleted]
    return proxy


def assert_repaired(stack: Operated) -> None:
    assert stack.project.outputs()["proxy_id"] == live(stack).id
    assert stack.coderd.accepts_proxy(token(stack))
    assert stack.preview(refresh=True).changes == []


def test_W1_looks_edited_in_coderd_are_named_and_set_right_in_place(stack: Operated) -> None:
    deploy(stack)
    assert_repaired(stack)
    before, first = live(stack).id, token(stack)
    live(stack).display_name, live(stack).icon = "Edited", "/x.png"

    seen = stack.preview(refresh=True)

    assert (seen.ops(KIND), seen.properties(KIND)) == (["update"], {"display_name", "icon"})
    deploy(stack, refresh=True)
    proxy = live(stack)
    assert (proxy.id, proxy.display_name, proxy.icon) == (before, "sydney", "/emojis/1f998.png")
    assert token(stack) == first
    assert_repaired(stack)


def test_W1_a_proxy_deleted_in_coderd_is_registered_again(stack: Operated) -> None:
    deploy(stack)
    stack.coderd.act("DELETE", f"{PROXIES}/sydney")
    assert stack.preview(refresh=True).ops(KIND) == ["create"]
    deploy(stack, refresh=True)
    assert_repaired(stack)


def test_W1_a_trigger_makes_another_token_for_the_same_proxy(stack: Operated) -> None:
    deploy(stack)
    before, first = live(stack).id, token(stack)
    stack.set_config(trigger="leaked")
    seen = stack.preview()
    assert (seen.ops(KIND), seen.properties(KIND)) == (["update"], {"trigger"})
    deploy(stack)
    assert live(stack).id == before
    assert not stack.coderd.accepts_proxy(first)
    assert_repaired(stack)


def test_U1_a_refresh_that_gets_no_answer_changes_nothing(stack: Operated) -> None:
    deploy(stack)
    for status in (401, 404, 500, 503):
        stack.coderd.fault("status", PROXIES, status=status, count=-1)
        said = stack.failure(lambda: stack.up(refresh=True))
        stack.coderd.peace()
        assert 'workspace proxy "sydney"' in said
        assert stack.resources()["proxy"]["outputs"]["proxy_id"] == live(stack).id
    assert len(stack.coderd.requests("POST", PROXIES)) == 1
    assert_repaired(stack)


def test_E4_E5_the_gate_opens_by_itself_and_closing_it_keeps_the_proxy(stack: Operated) -> None:
    stack.set_config(closed="true")
    stack.up()
    assert stack.project.outputs()["reason"] == "NotEntitled"
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


def test_K6_destroy_unregisters(stack: Operated) -> None:
    deploy(stack)
    stack.destroy()
    assert all(proxy.deleted for proxy in stack.coderd.state.records.proxies.values())
