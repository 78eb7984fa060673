"""What keeps coderd out of reach is repaired first, and the rest after a whole check (D3)."""

import pytest
from pulumi.automation.events import EngineEvent

from coder_stack.operate.engine.errors import LockedError
from coder_stack.operate.engine.events import EngineRun
from coder_stack.operate.engine.pulumi import AbortedError
from tests.unit.operate.engine_events import MASKED, UNKNOWN, step
from tests.unit.operate.scripted_stack import (
    ACCESS,
    DEPLOYMENT,
    KEY,
    SECRET,
    SERVICE,
    Scripted,
    drifted,
    run,
    unreachable,
)


def service_deleted() -> AbortedError:
    return unreachable(
        step("refresh", SERVICE, {"spec": {}}, None, name="service"),
        step("create", SERVICE, None, {"spec": {}}, name="service"),
        # The unreachable coderd looks like a change, with a consequence.
        step("refresh", KEY, {"reason": ""}, {"reason": "Unavailable"}, "reason"),
        step("update", DEPLOYMENT, {"sum": "a"}, {"sum": UNKNOWN}, "sum"),
    )


def test_D3_an_object_that_a_failed_refresh_removed_from_the_state_is_repaired_first() -> None:
    planned_service = step("create", SERVICE, None, {"spec": {}}, name="service")
    stack = Scripted([unreachable(planned_service), EngineRun()])
    report = run(stack)
    assert (report.result, report.repaired) == ("clean", True)
    assert stack.done == ["check", "up service", "check"]


@pytest.mark.parametrize("failing_updates", [0, 1])
def test_D3_what_makes_coderd_unreachable_is_repaired_first(failing_updates: int) -> None:
    previews = [service_deleted(), drifted(), EngineRun()]
    stack = Scripted(previews, failing_updates=failing_updates)
    report = run(stack)
    assert (report.result, report.repaired) == ("clean", True)
    assert stack.done == ["check", "up service", "check", "up it", "check"]


def test_D3_what_shows_once_coderd_can_be_reached_again_is_repaired_before_the_rest() -> None:
    """Somebody scaled it to zero, and revoked the token as well."""
    refused = {"accepted": False}, {"accepted": True}
    token_refused = unreachable(step("update", ACCESS, *refused, "accepted", name="access"))
    stack = Scripted([service_deleted(), token_refused, drifted(), EngineRun()])
    report = run(stack)
    assert (report.result, report.repaired) == ("clean", True)
    assert stack.done == ["check", "up service", "check", "up access", "check", "up it", "check"]


def test_D3_what_one_first_repair_leaves_broken_is_not_repaired_again_and_again() -> None:
    stack = Scripted([service_deleted()])
    assert run(stack).result == "error"
    assert stack.done == ["check", "up service", "check"]


def test_D3_R2_a_first_repair_that_fails_is_an_error_with_what_was_found() -> None:
    stack = Scripted([service_deleted()], failing_updates=1)
    report = run(stack)
    assert (report.result, report.repaired, report.repairs) == ("error", True, ())
    assert report.error is not None
    assert "--target list" in report.error
    assert report.error_next_step is not None
    assert [each.left_because for each in report.resources] == ["The repair failed."]
    assert stack.done == ["check", "up service", "check"]


def test_D3_the_half_done_work_of_another_update_is_not_repaired() -> None:
    stack = Scripted([service_deleted()])

    def locked_preview() -> EngineRun:
        stack.locked = 1
        raise service_deleted()

    stack.preview = locked_preview  # type: ignore[method-assign]
    with pytest.raises(LockedError):
        run(stack)
    assert stack.done == []


def test_D3_an_unreachable_coderd_without_findings_is_an_error_and_nothing_is_done() -> None:
    stack = Scripted([unreachable()])
    with pytest.raises(AbortedError, match="Unavailable"):
        run(stack)
    assert stack.done == ["check"]


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [
                step("refresh", SERVICE, {"a": 1}, {"a": 2}, "a"),
                step("replace", SERVICE, {"a": 2}, {"a": 1}, "a"),
            ],
            id="replaced",
        ),
        pytest.param(
            [
                step("refresh", SECRET, {"data": MASKED}, None),
                step("create", SECRET, None, {"data": MASKED}),
            ],
            id="a secret, which may be a consequence of its key",
        ),
    ],
)
def test_D3_what_cannot_be_repaired_alone_waits_for_a_full_check(
    events: list[EngineEvent],
) -> None:
    stack = Scripted([unreachable(*events)])
    report = run(stack)
    assert (report.result, report.repaired, len(report.resources)) == ("error", False, 1)
    assert stack.done == ["check"]


def test_D3_objects_in_coderd_wait_for_a_full_check() -> None:
    events = [step("refresh", KEY, {"a": 1}, None), step("create", KEY, None, {"a": 1})]
    stack = Scripted([unreachable(*events)])
    with pytest.raises(AbortedError, match="Unavailable"):
        run(stack)
    assert stack.done == ["check"]
