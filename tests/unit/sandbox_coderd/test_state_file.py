"""The state file: a restarted simulation is the same deployment."""

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sandbox.coderd.rules.license_key import LicenseTerms, issue
from sandbox.coderd.server import Options, prepare
from sandbox.errors import SandboxError
from tests.unit.sandbox_coderd.simulation import running


def test_everything_survives_a_restart(tmp_path: Path) -> None:
    state = tmp_path / "coderd.json"
    with running(state) as before:
        key = before.new_key("team-a")
        deployment = before.http.get("/api/v2/buildinfo").json()["deployment_id"]
        before.http.post("/_sim/clock", json={"advance_seconds": 5 * 86400})
    with running(state) as after:
        assert after.key_names() == ["team-a"]
        headers = {"Coder-Provisioner-Daemon-Key": key}
        assert after.http.get("/api/v2/provisionerkeys/x", headers=headers).status_code == 200
        assert after.http.get("/api/v2/buildinfo").json()["deployment_id"] == deployment
        offset = after.http.get("/_sim/clock").json()["offset_seconds"]
        assert offset == pytest.approx(5 * 86400)
        headers = {"Coder-Session-Token": before.token}
        assert after.http.get("/api/v2/users/me", headers=headers).status_code == 200


def test_the_file_holds_no_token_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    state = tmp_path / "coderd.json"
    with running(state) as simulation:
        key = simulation.new_key("team-a")
        text = state.read_text()
        assert "team-a" in text
        assert key not in text
        assert simulation.token.split("-")[1] not in text
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["coderd.json"]


def test_a_file_that_is_something_else_is_one_clear_sentence(tmp_path: Path) -> None:
    state = tmp_path / "coderd.json"
    state.write_text('{"users": 3}')
    with pytest.raises(SandboxError, match=r"is not a state file of the simulated coderd"):
        prepare(Options(state=state))
    assert state.read_text() == '{"users": 3}'


def test_a_telemetry_license_entitles_to_nothing_after_a_restart(tmp_path: Path) -> None:
    """Before the restart the old entitlements are still in memory; afterwards nothing is."""
    state = tmp_path / "coderd.json"
    with running(state) as before:
        before.http.post("/_sim/settings", json={"telemetry": True})
        text = issue(LicenseTerms(require_telemetry=True), datetime.now(UTC))
        uploaded = before.owner("POST", "/api/v2/licenses", json={"license": text})
        assert uploaded.status_code == 201
        before.http.post("/_sim/settings", json={"telemetry": False})
        assert before.http.get("/api/v2/entitlements").json()["has_license"]
    with running(state) as after:
        shown = after.http.get("/api/v2/entitlements").json()
        assert not shown["has_license"]
        assert shown["errors"] == ["License requires telemetry but telemetry is disabled"]
