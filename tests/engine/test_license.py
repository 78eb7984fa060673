"""Licenses on a real engine: up, drift behind Pulumi's back, repair, rotation, faults, destroy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.engine.operated import Operated, operated
from tests.provider.licenses import NO_LIST
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine


@pytest.fixture
def stack(engine: Engine, tmp_path: Path) -> Iterator[Operated]:
    """With a license in its config, and an owner's token."""
    with simulated() as coderd, operated(engine, coderd, tmp_path) as stack:
        stack.give("token", coderd.token)
        stack.give("jwt", license_text())
        yield stack


def uploads(stack: Operated) -> int:
    return len(stack.coderd.requests("POST", "/licenses"))


def test_L3_E1_up_licenses_coderd_and_is_then_done(stack: Operated) -> None:
    stack.up()
    outputs = stack.project.outputs()
    assert outputs["license"] == {"applied": True, "reason": "Applied"}
    assert (outputs["tier"], outputs["proxies"]) == ("premium", "entitled")
    assert outputs["deployment"] == stack.coderd.state.records.deployment_id

    assert stack.preview().changes == []
    assert stack.preview(refresh=True).changes == []
    assert stack.up(refresh=True).changes == []
    assert uploads(stack) == 1


def test_L10_a_destroy_that_runs_the_program_removes_the_license_too(stack: Operated) -> None:
    """Though the program still asks for it."""
    stack.up()
    stack.project.pulumi("destroy", "--yes", "--skip-preview", "--run-program")
    assert stack.coderd.license_ids() == []


def test_L6_D1_a_license_deleted_in_coderd_shows_as_a_create_and_comes_back(
    stack: Operated,
) -> None:
    stack.up()
    (ours,) = stack.coderd.license_ids()
    stack.coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=9)})
    stack.coderd.act("DELETE", f"/api/v2/licenses/{ours}")

    (drift,) = stack.preview(refresh=True).of_kind("License")
    assert drift.op == "create"
    assert stack.coderd.license_ids() == [ours + 1], "a preview changes nothing"

    stack.up(refresh=True)
    assert len(stack.coderd.license_ids()) == 2
    assert uploads(stack) == 3
    assert stack.preview(refresh=True).changes == []


def test_L4_rotation_creates_before_it_deletes_and_leaves_a_foreign_license(
    stack: Operated,
) -> None:
    foreign = stack.coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=9)})["id"]
    stack.up()
    (old,) = set(stack.coderd.license_ids()) - {foreign}

    stack.give("jwt", license_text(days=200))
    stack.coderd.forget_requests()
    seen = stack.preview()
    assert "create-replacement" in seen.ops("License")
    assert "jwt" in seen.properties("License")
    assert stack.coderd.requests("POST", "/licenses") == []

    stack.up()
    changed = [r for r in stack.coderd.requests(path="/licenses") if not r.startswith("GET")]
    assert changed == ["POST /api/v2/licenses", f"DELETE /api/v2/licenses/{old}"]
    assert foreign in stack.coderd.license_ids()
    assert stack.preview(refresh=True).changes == []


def test_L4_K6_a_superseded_license_that_stayed_is_removed_by_the_next_run(
    stack: Operated,
) -> None:
    stack.up()
    (old,) = stack.coderd.license_ids()
    stack.give("jwt", license_text(days=200))
    stack.coderd.refuse(500, "An internal server error occurred.", f"/api/v2/licenses/{old}")
    assert f"Error: license {old}, delete: " in stack.failure(stack.up)
    assert len(stack.coderd.license_ids()) == 2

    stack.up()
    assert old not in stack.coderd.license_ids()
    assert uploads(stack) == 2
    assert stack.preview(refresh=True).changes == []


@pytest.mark.parametrize(("status", "message", "reason"), NO_LIST)
def test_U1_a_failed_read_changes_no_state_and_recreates_nothing(
    stack: Operated, status: int, message: str, reason: str
) -> None:
    stack.up()
    before = stack.resources()["license"]
    stack.coderd.refuse(status, message, "/api/v2/licenses", count=-1)

    said = stack.failure(lambda: stack.up(refresh=True))
    assert f"{reason}: license, read: Cannot list licenses" in said

    stack.coderd.peace()
    assert stack.resources()["license"]["outputs"] == before["outputs"]
    assert uploads(stack) == 1
    assert stack.up(refresh=True).changes == []


def test_L8_a_bad_license_stops_the_preview_and_changes_nothing(stack: Operated) -> None:
    stack.up()
    stack.give("jwt", license_text(days=-60, grace_days=30))
    said = stack.failure(stack.preview)
    assert "Expired: The license expired on " in said
    assert stack.failure(stack.up)
    assert uploads(stack) == 1


def test_L1_an_empty_license_fails_as_SecretMissing(stack: Operated) -> None:
    stack.give("jwt", " ")
    stack.secrets.discard(" ")
    assert "SecretMissing: the license is empty" in stack.failure(stack.up)
    assert uploads(stack) == 0


def test_L7_an_agpl_build_is_a_warning_and_is_looked_at_again(
    engine: Engine, tmp_path: Path
) -> None:
    with simulated(agpl=True) as coderd, operated(engine, coderd, tmp_path) as stack:
        stack.give("token", coderd.token)
        stack.give("jwt", license_text())
        outcome = stack.up()
        assert "NotSupported: This build of coderd has no licenses" in outcome.text
        assert stack.project.outputs()["license"] == {"applied": False, "reason": "NotSupported"}
        assert stack.project.outputs()["tier"] == "none"
        coderd.forget_requests()
        assert stack.up(refresh=True).changes == []
        assert "GET /api/v2/licenses" in coderd.requests()
        stack.destroy()


def test_D1_destroy_removes_ours_and_only_ours(stack: Operated) -> None:
    foreign = stack.coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=9)})["id"]
    stack.up()
    stack.destroy()
    assert stack.coderd.license_ids() == [foreign]
    assert stack.resources() == {}
