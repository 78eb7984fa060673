"""What reconcile repairs and reports, and how it waits for another update (D3)."""

import json

import pytest

from coder_stack.operate.engine.errors import LeftLockError, LockedError, LockHolder
from coder_stack.operate.engine.events import EngineRun, read_events
from tests.unit.operate.engine_events import step
from tests.unit.operate.scripted_stack import (
    DEPLOYMENT,
    ENTITLEMENTS,
    Scripted,
    deleting,
    drifted,
    replacing,
    run,
    unreachable,
)


def test_D3_a_clean_stack_is_left_alone() -> None:
    stack = Scripted([EngineRun()])
    report = run(stack)
    assert (report.result, report.repaired, stack.done) == ("clean", False, ["check"])


def test_D3_drift_is_repaired_by_one_update_and_checked_again() -> None:
    stack = Scripted([drifted(), EngineRun()])
    report = run(stack)
    assert (report.result, report.repaired, stack.done) == (
        "clean",
        True,
        ["check", "up it", "check"],
    )


def test_D3_what_a_rule_covers_is_left_out_of_the_repair() -> None:
    rule = {"resource": "*::scaled", "reason": "the autoscaler's", "until": "2999-12-31"}
    scaled = step("update", DEPLOYMENT, {"a": 1}, {"a": 2}, "a", name="scaled")
    found = read_events([scaled, step("update", DEPLOYMENT, {"a": 1}, {"a": 2}, "a")])
    found.project = "coder-stack"
    found.config = {"coder-stack:drift": json.dumps({"ignore": [rule]})}
    stack = Scripted([found, EngineRun()])
    assert run(stack).repaired
    assert stack.done == ["check", "up it", "check"]


def test_D3_what_a_refresh_alone_repairs_is_a_target_unless_a_rule_covers_it() -> None:
    """Pulumi v3.220 refreshes everything in a targeted update, v3.259 refreshes only targets."""
    rule = {"resource": "*::known", "reason": "told us", "until": "2999-12-31"}
    recorded, now = {"stale": True}, {"stale": False}
    found = read_events(
        [step("refresh", ENTITLEMENTS, recorded, now, "stale", name=n) for n in ("it", "known")]
    )
    found.project = "coder-stack"
    found.config = {"coder-stack:drift": json.dumps({"ignore": [rule]})}
    stack = Scripted([found, EngineRun()])
    assert run(stack).repaired
    assert stack.done == ["check", "up it", "check"]


def test_D3_what_an_update_could_not_repair_is_still_drift() -> None:
    report = run(Scripted([drifted()]))
    assert (report.result, report.repaired) == ("drift", True)
    assert [each.left_because for each in report.resources] == [
        "It still differs after the repair."
    ]
    assert report.repairs == ()


def test_R2_the_report_lists_what_was_found_and_repaired() -> None:
    report = run(Scripted([drifted("a"), drifted("b"), EngineRun()]))
    assert (report.result, report.resources) == ("clean", ())
    assert [(each.name, each.next_step) for each in report.repairs] == [("a", None), ("b", None)]


def test_R2_another_update_in_between_leaves_what_was_done_in_the_report() -> None:
    stack = Scripted([drifted("a"), drifted("b")])
    checks = stack.preview

    def locked_later() -> EngineRun:
        if stack.done.count("check") == 1:
            raise LockedError("Another update of the stack is running.")
        return checks()

    stack.preview = locked_later  # type: ignore[method-assign]
    report = run(stack)
    assert (report.result, report.repaired) == ("error", True)
    assert [each.name for each in report.resources] == ["a"]


def test_D3_what_got_worse_after_the_check_counts_with_what_was_done() -> None:
    """One replacement is allowed and done; the next would be one too many."""
    previews = [replacing("eu"), replacing("us")]
    stack = Scripted([*previews], updates=[replacing("eu")])
    report = run(stack, max_replaces=1)
    assert stack.done == ["check", "up eu", "check"]
    assert (report.result, report.repaired) == ("drift", True)
    assert report.refused == (
        "Not repaired: the update would replace 1 resource after 1 "
        "(allowed: 1; see --max-replaces)."
    )
    stack = Scripted([*previews, EngineRun()], updates=[replacing("eu"), replacing("us")])
    assert run(stack, max_replaces=2).result == "clean"
    assert stack.done == ["check", "up eu", "check", "up us", "check"]


def test_D3_drift_that_comes_back_every_time_is_left_to_the_next_run() -> None:
    stack = Scripted([drifted(name) for name in "abcdef"])
    report = run(stack)
    assert stack.done == ["check", "up a", "check", "up b", "check", "up c", "check"]
    assert (report.result, report.repaired) == ("drift", True)


def test_D3_a_failed_update_is_repeated_with_what_went_missing_after_the_check() -> None:
    stack = Scripted([drifted("secret"), drifted("key"), EngineRun()], failing_updates=1)
    assert run(stack).result == "clean"
    assert stack.done == ["check", "up secret", "check", "up key", "check"]


def test_D3_an_update_that_failed_is_an_error_if_nothing_new_is_found() -> None:
    stack = Scripted([drifted()], failing_updates=1)
    report = run(stack)
    assert (report.result, report.repaired) == ("error", True)
    assert [each.left_because for each in report.resources] == ["The repair failed."]
    assert stack.done == ["check", "up it", "check"]


def test_D3_a_repair_beyond_the_limits_is_not_started() -> None:
    stack = Scripted([deleting()])
    report = run(stack)
    assert (report.result, report.repaired, stack.done) == ("drift", False, ["check"])
    assert report.refused is not None
    assert report.refused_next_step is not None
    assert report.refused_next_step.command == "coder-stack reconcile --stack dev --max-deletes 1"
    assert [each.left_because for each in report.resources] == ["The repair exceeds the limits."]
    assert run(Scripted([deleting(), EngineRun()]), max_deletes=1).repaired


def test_D3_F3_a_deleted_database_is_left_to_a_person() -> None:
    """An update would create an empty one, and coderd would begin anew."""
    cluster = "kubernetes:postgresql.cnpg.io/v1:Cluster"
    gone = [
        step("refresh", cluster, {"spec": {}}, None, name="database"),
        step("create", cluster, None, {"spec": {}}, name="database"),
    ]
    stack = Scripted([read_events(gone)])
    report = run(stack, max_creates=100)
    assert (report.result, report.repaired, stack.done) == ("drift", False, ["check"])
    assert report.refused == "Not repaired: the update would create an empty database."
    assert [each.left_because for each in report.resources] == [
        "The database must be restored first."
    ]
    stack = Scripted([unreachable(*gone)])
    report = run(stack)
    assert (report.result, stack.done) == ("error", ["check"]), "nor is it repaired first"


def test_D3_reconcile_waits_for_another_update_only_as_long_as_asked() -> None:
    assert run(Scripted([EngineRun()], locked=3), wait_seconds=60).result == "clean"
    with pytest.raises(LockedError):
        run(Scripted([EngineRun()], locked=1))


def test_D3_reconcile_does_not_wait_for_a_lock_that_was_left_behind() -> None:
    stack = Scripted([EngineRun()])

    def left_behind() -> None:
        stack.done.append("look")
        raise LeftLockError(LockHolder("ann@laptop", "42", "2026-01-01T00:00:00Z"))

    stack.raise_if_locked = left_behind  # type: ignore[method-assign]
    with pytest.raises(LeftLockError):
        run(stack, wait_seconds=60)
    assert stack.done == ["look"]
