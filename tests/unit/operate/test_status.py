"""The report of `status` from the stack's outputs, and the error without any (S1)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.fleet import ExitCode, exit_code
from coder_stack.operate.report.model import (
    KeyAge,
    LastUpdate,
    LicenseDates,
    ProxySummary,
    Report,
)
from coder_stack.operate.report.text import plain_lines
from coder_stack.operate.status import status_report
from tests.unit.operate.engine_events import UNKNOWN

NOW = datetime(2027, 1, 1, tzinfo=UTC)
LAST = LastUpdate(at=datetime(2026, 12, 24, 16, 30, tzinfo=UTC), kind="update", succeeded=True)


def status(outputs: dict[str, Any], last: LastUpdate | None = LAST) -> Report:
    return status_report("dev", outputs, last, NOW)


def ready(status: str) -> dict[str, str]:
    return {
        "component": "stack",
        "type": "Ready",
        "status": status,
        "reason": "AllReady" if status == "True" else "Pending",
        "message": "",
    }


def outputs(status: str = "True", **more: Any) -> dict[str, Any]:
    return {"conditions": [ready(status)], **more}


FULL = outputs(
    license={
        "configured": True,
        "applied": True,
        "licenseExpires": "2027-01-31T00:00:00+00:00",
        "exp": "2027-03-02T00:00:00+00:00",
        "warnDays": 30,
    },
    provisioners=[
        {
            "name": "eu",
            "organization": "coder",
            "keyName": "eu-3f9a",
            "keyAgeDays": 12,
            "rotateAfterDays": 90,
            "daemons": 2.0,
        }
    ],
    proxies=[{"name": "paris", "health": "ok", "version": "v2.30.0"}],
)


@pytest.mark.parametrize(
    ("given", "code"),
    [("True", ExitCode.CLEAN), ("False", ExitCode.DRIFT), ("Unknown", ExitCode.DRIFT)],
)
def test_S1_the_exit_code_is_that_of_ready(given: str, code: ExitCode) -> None:
    assert exit_code([status(outputs(given))], readiness=True) == code


def test_R1_a_stack_that_is_not_ready_has_not_drifted() -> None:
    """Result and readiness are two things; only `status` has an exit code for the second."""
    report = status(outputs("False"))
    assert (report.result, report.readiness, report.checked_at) == ("recorded", "not ready", None)
    clean = Report(stack="s", written_at=NOW, checked_at=NOW, result="clean", readiness="not ready")
    assert exit_code([clean]) == ExitCode.CLEAN
    assert exit_code([clean], readiness=True) == ExitCode.DRIFT


def test_S1_license_keys_and_proxies_come_from_the_outputs() -> None:
    report = status(FULL)
    assert report.license == LicenseDates(
        applied=True,
        license_expires=datetime(2027, 1, 31, tzinfo=UTC),
        exp=datetime(2027, 3, 2, tzinfo=UTC),
        warn_days=30,
    )
    assert report.keys == (
        KeyAge(
            provisioner="eu",
            organization="coder",
            key_name="eu-3f9a",
            age_days=12,
            rotate_after_days=90,
            daemons=2,
        ),
    )
    assert report.proxies == (ProxySummary(name="paris", health="ok", version="v2.30.0"),)


def test_R1_the_text_says_that_nothing_was_checked_and_has_a_line_for_each() -> None:
    assert list(plain_lines(status(FULL), details=True)) == [
        "stack dev: not checked now, ready",
        "  As of the last update at 24 December 2026, 16:30 UTC, not checked now.",
        "  What the last update recorded.",
        "  warning: The license expires on 31 January 2027, in 30 days.",
        (
            "    next: Renew the license. "
            "$ pulumi config set --secret licenseJwt --stack dev < license.jwt"
        ),
        (
            "  license in coderd: yes, grace begins: 31 January 2027 (in 30 days), "
            "features end: 2 March 2027 (in 60 days), warns: 30 days before"
        ),
        "  key eu (coder), eu-3f9a, 12 days old, rotated after 90, 2 daemons",
        "  proxy paris, ok, v2.30.0",
        "  stack Ready: True AllReady ",
        "  report of 1 January 2027, 00:00 UTC",
    ]


def test_R1_a_last_update_that_failed_or_is_unknown_is_said() -> None:
    failed = LAST.model_copy(update={"succeeded": False})
    text = "\n".join(plain_lines(status(outputs(), failed), details=True))
    assert "warning: The last update did not succeed" in text
    text = "\n".join(plain_lines(status(outputs(), None), details=True))
    assert "As of the last update, at an unknown time; not checked now." in text


@pytest.mark.parametrize("nothing", [{}, {"conditions": []}, {"conditions": "[secret]"}])
def test_a_stack_that_was_never_deployed_is_an_error(nothing: dict[str, Any]) -> None:
    with pytest.raises(OperationError, match="no conditions on record"):
        status(nothing)


def test_V3_R1_conditions_that_the_engine_does_not_know_are_no_missing_deployment() -> None:
    """Newer engines store them so after a refresh that found something gone."""
    with pytest.raises(OperationError, match="conditions on record are unknown") as unknown:
        status({"conditions": UNKNOWN})
    step = unknown.value.next_step("dev")
    assert step is not None
    assert step.command == "coder-stack status --live --stack dev"


@pytest.mark.parametrize(
    ("results", "code"),
    [
        (["clean", "clean"], ExitCode.CLEAN),
        (["clean", "drift"], ExitCode.DRIFT),
        (["drift", "error", "clean"], ExitCode.ERROR),
        ([], ExitCode.CLEAN),
    ],
)
def test_D2_an_error_outweighs_drift(results: list[Any], code: ExitCode) -> None:
    reports = [Report(stack="s", written_at=NOW, checked_at=NOW, result=each) for each in results]
    assert exit_code(reports) == code
