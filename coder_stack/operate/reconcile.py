"""Repair the drift of one stack, if the repair stays within the limits (D3).

Checks first, and does nothing on a clean stack. What makes coderd unreachable is repaired before
the rest is checked. Then `pulumi up --refresh` updates exactly the resources that the check has
counted, under the backend's lock. A second check shows the outcome; drift that it finds besides is
repaired in a further round, within the same limits. The report has what was found, what is repaired
and what is left, also if the repair failed.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from coder_stack.counting import counted
from coder_stack.operate.diagnosis.kubernetes_causes import is_lost_database
from coder_stack.operate.diagnosis.next_steps import for_refusal
from coder_stack.operate.drift import DriftCheck, check_drift
from coder_stack.operate.engine.errors import LeftLockError, LockedError, OperationError
from coder_stack.operate.engine.events import EngineRun
from coder_stack.operate.engine.pulumi import AbortedError, StackEngine
from coder_stack.operate.report.model import Report, ResourceReport
from coder_stack.operate.report.summary import drifted
from coder_stack.settings import DriftSettings

T = TypeVar("T")
# Mostly one is enough. After a license is restored, the next round creates what depends on it.
_MAX_ROUNDS = 3


@dataclass(frozen=True)
class Limits:
    """Options of the command line; None: as in the stack's config."""

    max_deletes: int | None = None
    max_replaces: int | None = None
    max_creates: int | None = None
    wait_seconds: float = 0
    """How long to wait for another update, with a pause between attempts."""
    pause_seconds: float = 2


@dataclass(frozen=True)
class Changes:
    """How many resources the updates of this run have deleted, replaced and created so far."""

    deletes: int = 0
    replaces: int = 0
    creates: int = 0


@dataclass
class _Record:
    """What this run has found and done, for its report (R2)."""

    stack: str
    found: dict[str, ResourceReport] = field(default_factory=dict[str, ResourceReport])
    last: Report | None = None
    updated: bool = False
    """Whether an update was started."""
    stale: bool = False
    """Whether an update was started after the last check."""

    def checked(self, check: DriftCheck) -> DriftCheck:
        """Remember what a check has found."""
        self.last, self.stale = check.report, False
        self.found |= {each.urn: each for each in drifted(check.report)}
        return check

    def updating(self) -> None:
        """Remember that an update starts."""
        self.updated = self.stale = True

    def report(self, report: Report, why_left: str) -> Report:
        """Add to the last check's report what is repaired, and why the rest is left.

        Only a complete check after the update shows that something is repaired.
        """
        complete = report.result != "error" and not self.stale
        left = [each if each.ignored_by else _left(each, why_left) for each in report.resources]
        others = [
            each
            for urn, each in self.found.items()
            if urn not in {other.urn for other in drifted(report)}
        ]
        if not complete:
            left += [_left(each, "It was not checked again.") for each in others]
        repairs = [each.model_copy(update={"next_step": None}) for each in others]
        changes = {"resources": tuple(left), "repairs": tuple(repairs) if complete else ()}
        return report.model_copy(update={**changes, "repaired": self.updated})

    def failed(self, error: OperationError) -> Report:
        """Report the error, with what was found before."""
        if self.last is None:
            raise error
        failed = {
            "result": "error",
            "error": str(error),
            "error_next_step": error.next_step(self.stack),
        }
        why = "It was not checked again." if self.stale else "The repair failed."
        return self.report(self.last.model_copy(update=failed), why)


def _left(resource: ResourceReport, why: str) -> ResourceReport:
    why = "Its cluster does not answer." if resource.cluster else why
    return resource.model_copy(update={"left_because": why})


def _tell_nobody(report: Report) -> None:
    """Show the first check to nobody."""


def reconcile_stack(
    stack: StackEngine, limits: Limits, tell: Callable[[Report], None] = _tell_nobody
) -> Report:
    """Return the report of the last check, with what was found, repaired and left.

    `tell` gets the report of the first check before anything is repaired.
    """
    record = _Record(stack.name)
    try:
        return _reconcile(stack, limits, record, tell)
    except OperationError as error:
        return record.failed(error)


def _reconcile(
    stack: StackEngine, limits: Limits, record: _Record, tell: Callable[[Report], None]
) -> Report:
    found = record.checked(_check(stack, limits))
    tell(found.report)
    # Once coderd can be reached again, its answer may be that it refuses the operator's token.
    first = set[str]()
    while not first.issuperset(found.repair_first):
        first |= set(found.repair_first)
        found = _repair_first(stack, limits, record, found)
    done, tried = Changes(), set[str]()
    for _ in range(_MAX_ROUNDS):
        if found.report.result != "drift" or _only_silent_clusters(found.report):
            break
        if lost := _lost_database(found.report):
            why = "Not repaired: the update would create an empty database."
            refused = {"refused": why, "refused_next_step": lost.next_step}
            report = found.report.model_copy(update=refused)
            return record.report(report, "The database must be restored first.")
        if exceeded := excess(found, limits, done):
            refused = {
                "refused": refusal(found, limits, done),
                "refused_next_step": for_refusal(exceeded, stack.name),
            }
            report = found.report.model_copy(update=refused)
            return record.report(report, "The repair exceeds the limits.")
        tried |= set(found.repairs)
        record.updating()
        run, aborted = _update(stack.without(found.left_out), limits, found.repairs)
        done = Changes(
            done.deletes + run.deletes, done.replaces + run.replaces, done.creates + run.creates
        )
        found = record.checked(_check(stack, limits))
        if tried.issuperset(found.repairs):
            if aborted is not None:
                raise aborted
            break
    why = "It still differs after the repair." if tried else "The rest could not be checked."
    return record.report(found.report, why)


def _only_silent_clusters(report: Report) -> bool:
    """Tell whether all that is not as it should be is in clusters that do not answer."""
    return all(each.cluster for each in drifted(report))


def _lost_database(report: Report) -> ResourceReport | None:
    """Return the database that was deleted, if it was: only a person may start an empty one."""
    found = (e for e in drifted(report) if is_lost_database(e.type, e.kind, e.origin))
    return next(found, None)


def _update(
    stack: StackEngine, limits: Limits, urns: Sequence[str]
) -> tuple[EngineRun, AbortedError | None]:
    """Return the run and, if it aborted, the error.

    A resource that has gone missing since the check is no target, and may be the reason.
    """
    try:
        return _wait_for_lock(lambda: stack.up(targets=urns), limits), None
    except AbortedError as aborted:
        return aborted.run, aborted


def _repair_first(
    stack: StackEngine, limits: Limits, record: _Record, before: DriftCheck
) -> DriftCheck:
    """Update only these resources, and check again.

    The update may fail because of another resource, such as a key that is gone too; a later round
    repairs that one. The error counts only if one of these resources still needs a repair.
    """
    record.updating()
    urns = before.repair_first
    _, aborted = _update(stack.without(before.left_out), limits, urns)
    found = record.checked(_check(stack, limits))
    if aborted is not None and set(found.repair_first) & set(urns):
        raise aborted
    return found


def refusal(found: DriftCheck, limits: Limits, done: Changes | None = None) -> str | None:
    """Return a sentence if the plan and what was `done` exceed a limit together, else None."""
    before = done or Changes()
    exceeded = excess(found, limits, before)
    if not exceeded:
        return None
    if found.empty and limits.max_creates is None and "create" in exceeded:
        return "Not repaired: the stack has no resources; it was destroyed, or never deployed."
    told = [_exceeded(verb, found, limits, before) for verb in exceeded]
    return f"Not repaired: the update would {' and '.join(told)}."


def excess(found: DriftCheck, limits: Limits, done: Changes) -> dict[str, int]:
    """Return the verbs whose limit the repair exceeds, with the limit that it would need.

    Nothing brings a destroyed stack back to life but an explicit limit.
    """
    planned, before = _numbers(found), _numbers(done)
    allowed = _allowed(found.settings, limits)
    if found.empty and limits.max_creates is None:
        allowed["create"] = 0
    return {
        verb: more + before[verb]
        for verb, more in planned.items()
        if more and more + before[verb] > allowed[verb]
    }


def _exceeded(verb: str, found: DriftCheck, limits: Limits, done: Changes) -> str:
    more, so_far = _numbers(found)[verb], _numbers(done)[verb]
    allowed = _allowed(found.settings, limits)[verb]
    after = f" after {so_far}" if so_far else ""
    return f"{verb} {counted(more, 'resource')}{after} (allowed: {allowed}; see --max-{verb}s)"


def _numbers(changes: DriftCheck | Changes) -> dict[str, int]:
    return {
        "delete": changes.deletes,
        "replace": changes.replaces,
        "create": changes.creates,
    }


def _allowed(settings: DriftSettings, limits: Limits) -> dict[str, int]:
    def either(given: int | None, configured: int) -> int:
        return configured if given is None else given

    return {
        "delete": either(limits.max_deletes, settings.max_deletes),
        "replace": either(limits.max_replaces, settings.max_replaces),
        "create": either(limits.max_creates, settings.max_creates),
    }


def _check(stack: StackEngine, limits: Limits) -> DriftCheck:
    return _wait_for_lock(lambda: check_drift(stack), limits)


def _wait_for_lock(work: Callable[[], T], limits: Limits) -> T:
    """Repeat the work while another update holds the lock, until the time is up."""
    end = time.monotonic() + limits.wait_seconds
    while True:
        try:
            return work()
        except LeftLockError:
            raise  # nobody is going to release it
        except LockedError:
            if time.monotonic() + limits.pause_seconds > end:
                raise
            time.sleep(limits.pause_seconds)
