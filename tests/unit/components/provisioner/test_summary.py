"""What the stack exports about a provisioner (S1)."""

from datetime import date

import pytest

from coder_stack.components.provisioner import age_in_days
from coder_stack.settings import KeySettings
from tests.unit.components.provisioner.fleet import MATERIAL, fleet, render
from tests.unit.components.rendering import Recorder


def test_S1_no_secret_is_in_what_is_exported(licensed: Recorder) -> None:
    seen = render(fleet())
    assert licensed.resources
    assert MATERIAL not in str(seen)


def test_the_summary_names_the_key_and_its_daemons(licensed: Recorder) -> None:
    summary = render(fleet(organization="ml", key=KeySettings(tags={"gpu": "yes"})))["summary"]
    assert licensed.resources
    age = summary.pop("keyAgeDays")
    assert age >= 0
    assert summary == {
        "name": "fleet",
        "organization": "ml",
        "keyId": "k-1",
        "keyName": "fleet-0a1b2c3d4e",
        "keyCreatedAt": "2026-01-01T00:00:00+00:00",
        "tags": {"gpu": "yes"},
        "daemons": 1,
        "versions": ["v2.30.0"],
    }


def test_the_summary_of_a_key_that_is_not_there_yet(unlicensed: Recorder) -> None:
    summary = render(fleet(), features=())["summary"]
    assert unlicensed.resources
    assert (summary["keyId"], summary["keyName"], summary["daemons"]) == ("", "", 0)
    assert summary["keyAgeDays"] is None


@pytest.mark.parametrize(
    ("created", "age"),
    [
        ("2026-03-01T00:00:00+00:00", 9),
        ("2026-03-10T23:59:59+00:00", 0),
        ("2026-03-09T23:30:00-01:00", 0),
        ("", None),
    ],
)
def test_a_keys_age_is_in_whole_days_of_universal_time(created: str, age: int | None) -> None:
    assert age_in_days(created, date(2026, 3, 10)) == age
