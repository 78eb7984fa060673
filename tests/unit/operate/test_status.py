"""The report of `status` from the stack's outputs, and the error without any (S1)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.fleet import ExitCode, exit_code
from coder_stack.operate.report.model import KeyAge, LicenseDates, ProxySummary, Report
from coder_stack.operate.report.text import plain_lines
from coder_stack.operate.status import status_report

NOW = datetime(2027, 1, 1, tzinfo=UTC)


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
    },
    provisioners=[
        {
            "name": "eu",
            "organization": "coder",
            "keyName": "eu-3f9a",
            "keyAgeDays": 12,
            "daemons": 2.0,
        }
    ],
    proxies=[{"name": "paris", "health": "ok", "version": "v2.30.0"}],
    settings={"provisioners": [{"name": "eu", "key": {"rotateAfterDays": 90}}]},
)


@pytest.mark.parametrize(
    ("status", "code"),
    [("True", ExitCode.CLEAN), ("False", ExitCode.DRIFT), ("Unknown", ExitCode.DRIFT)],
)
def test_S1_the_exit_code_is_that_of_ready(status: str, code: ExitCode) -> None:
    assert exit_code([status_report("dev", outputs(status), NOW)]) == code


def test_S1_license_keys_and_proxies_come_from_the_outputs() -> None:
    report = status_report("dev", FULL, NOW)
    assert report.license == LicenseDates(
        applied=True,
        license_expires=datetime(2027, 1, 31, tzinfo=UTC),
        exp=datetime(2027, 3, 2, tzinfo=UTC),
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


def test_the_plain_text_has_a_line_for_each() -> None:
    assert list(plain_lines(status_report("dev", FULL, NOW), details=True)) == [
        "stack dev: clean, ready",
        "  condition stack Ready: True AllReady ",
        "  license applied, until grace: 30 days left, until it ends: 60 days left",
        "  key eu (coder), eu-3f9a, 12 days old, rotated after 90, 2 daemons",
        "  proxy paris, ok, v2.30.0",
    ]


@pytest.mark.parametrize("nothing", [{}, {"conditions": []}, {"conditions": "[secret]"}])
def test_a_stack_that_was_never_deployed_is_an_error(nothing: dict[str, Any]) -> None:
    with pytest.raises(OperationError, match="no conditions on record"):
        status_report("dev", nothing, NOW)


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
    reports = [Report(schema=1, stack="s", checked_at=NOW, result=each) for each in results]
    assert exit_code(reports) == code
