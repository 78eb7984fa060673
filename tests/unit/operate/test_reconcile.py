"""What reconcile repairs and reports, and how it waits for another update (D3)."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pulumi.automation.events import EngineEvent

from coder_stack.operate.engine.errors import (
    LeftLockError,
    LockedError,
    LockHolder,
    OperationError,
)
from coder_stack.operate.engine.events import EngineRun, read_events
from coder_stack.operate.engine.pulumi import AbortedError
from coder_stack.operate.reconcile import Limits, reconcile_stack
from coder_stack.operate.report.model import Report
from tests.unit.operate.engine_events import MASKED, UNKNOWN, step

NOW = datetime(2027, 1, 1, tzinfo=UTC)
REPORT = Report(stack="dev", written_at=NOW, checked_at=NOW, result="drift")


DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SERVICE = "kubernetes:core/v1:Service"
SECRET = "kubernetes:core/v1:Secret"
KEY = "pulumi-python:dynamic/coder:ProvisionerKey"
ACCESS = "pulumi-python:dynamic/coder:OperatorAccess"
ENTITLEMENTS = "pulumi-python:dynamic/coder:Entitlements"


def drifted(name: str = "it") -> EngineRun:
    old, new = {"spec": {"a": 1}}, {"spec": {"a": 2}}
    return read_events(
        [
            step("refresh", DEPLOYMENT, old, new, "spec.a", name=name),
            step("update", DEPLOYMENT, new, old, "spec.a", name=name),
        ]
    )


def replacing(*names: str) -> EngineRun:
    return read_events(
        [step("replace", KEY, {"tags": 1}, {"tags": 2}, "tags", name=n) for n in names]
    )


def deleting() -> EngineRun:
    return read_events([step("delete", DEPLOYMENT, {"spec": {}}, None)])


@dataclass
class Scripted:
    """A stack whose previews return these runs in turn; the last one again and again."""

    previews: Sequence[EngineRun | AbortedError]
    locked: int = 0
    """How often another update holds the lock."""
    failing_updates: int = 0
    updates: list[EngineRun] = field(default_factory=list[EngineRun])
    """The runs of the updates, in turn."""
    name: str = "dev"
    done: list[str] = field(default_factory=list[str])
    project: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(folder=Path()))
    left_out: tuple[str, ...] = ()

    def without(self, clusters: Iterable[str]) -> "Scripted":
        assert not list(clusters), "this stack has one cluster"
        return self

    def raise_if_locked(self) -> None:
        if self.locked:
            self.locked -= 1
            raise LockedError("Another update of the stack is running.")

    def preview(self) -> EngineRun:
        self.done.append("check")
        now, *later = self.previews
        self.previews = later or [now]
        if isinstance(now, AbortedError):
            raise now
        return now

    def up(self, targets: Sequence[str]) -> EngineRun:
        self.done.append(" ".join(["up", *map(_name, targets)]))
        if self.failing_updates:
            self.failing_updates -= 1
            why = "It depends on what was not specified in --target list."
            raise AbortedError(OperationError(why), EngineRun())
        return self.updates.pop(0) if self.updates else EngineRun()


def _name(urn: str) -> str:
    return urn.rsplit("::", maxsplit=1)[-1]


def run(stack: Any, **limits: Any) -> Report:
    return reconcile_stack(stack, Limits(pause_seconds=0.01, **limits))


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


def unreachable(*events: EngineEvent) -> AbortedError:
    why = OperationError("Unavailable: coderd does not answer.")
    return AbortedError(why, read_events(events))


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
