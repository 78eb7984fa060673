"""How many changes reconcile may make, from the config and the command line (D3)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from coder_stack.operate.drift import DriftCheck
from coder_stack.operate.engine.events import read_events
from coder_stack.operate.reconcile import Limits, refusal
from coder_stack.operate.report.model import Report
from coder_stack.settings import DriftSettings
from tests.unit.operate.engine_events import step

NOW = datetime(2027, 1, 1, tzinfo=UTC)
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
KEY = "pulumi-python:dynamic/coder:ProvisionerKey"
REPORT = Report(stack="dev", written_at=NOW, checked_at=NOW, result="drift")


def planned(**changes: Any) -> DriftCheck:
    settings = DriftSettings(max_deletes=1, max_replaces=2, max_creates=3)
    return DriftCheck(REPORT, settings, **changes)


@pytest.mark.parametrize(
    ("check", "limits"),
    [
        (planned(), Limits()),
        (planned(deletes=1, replaces=2), Limits()),
        (planned(deletes=9), Limits(max_deletes=9)),
        (planned(replaces=9), Limits(max_replaces=9)),
        (planned(creates=3), Limits()),
        (planned(creates=40, empty=True), Limits(max_creates=40)),
    ],
)
def test_D3_a_repair_within_the_limits_is_done(check: DriftCheck, limits: Limits) -> None:
    assert refusal(check, limits) is None


def test_D3_more_than_the_config_allows_is_refused_with_the_numbers() -> None:
    assert refusal(planned(deletes=2, replaces=3), Limits()) == (
        "Not repaired: the update would delete 2 resources (allowed: 1; see --max-deletes) "
        "and replace 3 resources (allowed: 2; see --max-replaces)."
    )


def test_D3_creates_have_a_limit_too() -> None:
    assert refusal(planned(creates=4), Limits()) == (
        "Not repaired: the update would create 4 resources (allowed: 3; see --max-creates)."
    )


def test_D3_a_destroyed_stack_stays_destroyed() -> None:
    """Even if it is small: a scheduled reconcile must not bring it back to life."""
    destroyed = planned(creates=1, empty=True)
    assert refusal(destroyed, Limits()) == (
        "Not repaired: the stack has no resources; it was destroyed, or never deployed."
    )


def test_D3_the_command_line_outweighs_the_config_also_downwards() -> None:
    message = refusal(planned(deletes=1), Limits(max_deletes=0))
    assert message is not None
    assert "allowed: 0" in message


@pytest.mark.parametrize(
    ("type_", "changed", "counted"),
    [
        (KEY, ["issued_on"], 0),
        (KEY, ["name", "issued_on"], 0),
        (KEY, ["issued_on", "tags"], 1),
        (KEY, ["name"], 1),
        (KEY, [], 1),
        (DEPLOYMENT, ["issued_on"], 1),
    ],
)
def test_D3_keys_that_are_rotated_for_their_age_alone_do_not_count(
    type_: str, changed: list[str], counted: int
) -> None:
    """Keys created on one day are rotated on one day; the config asks for that."""
    event = step("replace", type_, {"a": 1}, {"a": 2}, "a")
    assert event.resource_pre_event is not None
    event.resource_pre_event.metadata.keys = changed
    assert read_events([event]).replaces == counted
