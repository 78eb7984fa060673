"""Entitlements on a real engine: seen by a plain preview, known to dependants, never churning."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.engine.operated import Operated, operated
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine


@pytest.fixture
def stack(engine: Engine, tmp_path: Path) -> Iterator[Operated]:
    """Of somebody who licenses coderd by hand."""
    with simulated() as coderd, operated(engine, coderd, tmp_path) as stack:
        stack.give("token", coderd.token)
        yield stack


def license_by_hand(stack: Operated, **terms: object) -> int:
    number: int = stack.coderd.act("POST", "/api/v2/licenses", {"license": license_text(**terms)})[
        "id"
    ]
    return number


def test_E2_a_plain_preview_shows_a_change_and_names_the_features(stack: Operated) -> None:
    stack.up()
    assert stack.project.outputs()["tier"] == "none"
    license_by_hand(stack, feature_set="enterprise")

    seen = stack.preview()
    (step,) = seen.changes
    assert (step.op, step.name) == ("update", "entitlements")
    assert {"tier", "has_license", "features.workspace_proxy.entitlement"} <= set(step.properties)
    assert "features.custom_roles.entitlement" not in step.properties
    # A stack output is computed by a dependant of the resource: it is known in this same preview.
    assert '"not_entitled" => "entitled"' in " ".join(seen.text.split())

    stack.up()
    assert stack.project.outputs()["tier"] == "enterprise"
    assert stack.project.outputs()["proxies"] == "entitled"
    assert stack.preview().changes == []


def test_E2_losing_the_license_is_named_with_and_without_refresh(stack: Operated) -> None:
    number = license_by_hand(stack)
    stack.up()
    stack.coderd.act("DELETE", f"/api/v2/licenses/{number}")

    (plain,) = stack.preview().changes
    assert "tier" in plain.properties
    refreshed = stack.preview(refresh=True)
    assert 'tier : "premium" => "none"' in " ".join(refreshed.text.split())
    assert stack.resources()["entitlements"]["outputs"]["tier"] == "premium", "only a preview"

    stack.refresh()
    assert stack.resources()["entitlements"]["outputs"]["tier"] == "none"
    assert stack.preview().changes == []


def test_E2_time_and_users_alone_are_no_change(stack: Operated) -> None:
    license_by_hand(stack)
    stack.up()
    stack.coderd.act("POST", "/_sim/clock", {"advance_seconds": 3600})
    stack.coderd.act("POST", "/_sim/users", {"username": "newcomer"})
    assert stack.preview().changes == []
    assert stack.preview(refresh=True).changes == []


@pytest.mark.parametrize("status", [401, 403, 500])
def test_E6_U1_without_an_answer_the_last_values_stay_and_are_marked_stale(
    stack: Operated, status: int
) -> None:
    license_by_hand(stack)
    stack.up()
    stack.coderd.refuse(status, "Forbidden.", "/api/v2/entitlements", count=-1)

    (step,) = stack.preview().changes
    assert set(step.properties) == {"stale", "reason"}
    stack.up(refresh=True)
    outputs = stack.project.outputs()
    assert (outputs["tier"], outputs["proxies"], outputs["stale"]) == ("premium", "entitled", True)
    reason = "Forbidden" if status in (401, 403) else "EntitlementsQueryFailed"
    assert stack.resources()["entitlements"]["outputs"]["reason"] == reason

    stack.coderd.peace()
    stack.up()
    assert stack.project.outputs()["stale"] is False
    assert stack.preview(refresh=True).changes == []


def test_E4_a_first_preview_leaves_the_facts_unknown(stack: Operated) -> None:
    """Coderd answers, but the license comes with the update: what it says now will not hold."""
    stack.give("jwt", license_text())
    seen = " ".join(stack.preview().text.split())
    assert 'tier : "' not in seen
    assert "not_entitled" not in seen
    stack.up()
    assert stack.project.outputs()["tier"] == "premium"
    assert stack.preview().changes == []
