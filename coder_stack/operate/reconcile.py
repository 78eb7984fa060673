"""Repair the drift of one stack, if the repair stays within the limits (D3).

Checks first, and does nothing on a clean stack. What makes coderd unreachable is repaired before
the rest is checked. Then `pulumi up --refresh` updates exactly the resources that the check has
counted, under the backend's lock. A second check shows the outcome; drift that it finds besides is
repaired in a further round, within the same limits.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from coder_stack.operate.drift import DriftCheck, check_drift
from coder_stack.operate.engine.errors import LockedError
from coder_stack.operate.engine.events import EngineRun
from coder_stack.operate.engine.pulumi import AbortedError, StackEngine
from coder_stack.operate.report.model import Report
from coder_stack.operate.report.wording import counted
from coder_stack.settings import DriftSettings

T = TypeVar("T")
# Mostly one is enough. After a license is restored, the next round creates what depends on it.
_MAX_ROUNDS = 3


@dataclass(frozen=True)
class Limits:
    """Options of the command line; None: as in the stack's config."""

    max_deletes: int | None = None
    max_replaces: int | None = None
    wait_seconds: float = 0
    """How long to wait for another update, with a pause between attempts."""
    pause_seconds: float = 2


@dataclass(frozen=True)
class Changes:
    """How many resources the updates of this run have deleted and replaced so far."""

    deletes: int = 0
    replaces: int = 0


def reconcile_stack(stack: StackEngine, limits: Limits) -> Report:
    """Return the report of the last check: after the repair, if there was one."""
    found, repaired = _check(stack, limits), False
    if found.repair_first:
        found, repaired = _repair_first(stack, limits, found.repair_first), True
    done, tried = Changes(), set[str]()
    for _ in range(_MAX_ROUNDS):
        if found.report.result != "drift":
            break
        if refused := refusal(found, limits, done):
            return found.report.model_copy(update={"repaired": repaired, "refused": refused})
        tried |= set(found.repairs)
        run, aborted = _update(stack, limits, found.repairs)
        done = Changes(done.deletes + run.deletes, done.replaces + run.replaces)
        found, repaired = _check(stack, limits), True
        if tried.issuperset(found.repairs):
            if aborted is not None:
                raise aborted
            break
    return found.report.model_copy(update={"repaired": repaired})


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


def _repair_first(stack: StackEngine, limits: Limits, urns: Sequence[str]) -> DriftCheck:
    """Update only these resources, and check again.

    The update may fail because of another resource, such as a key that is gone too; a later round
    repairs that one. The error counts only if one of these resources still needs a repair.
    """
    _, aborted = _update(stack, limits, urns)
    found = _check(stack, limits)
    if aborted is not None and set(found.repair_first) & set(urns):
        raise aborted
    return found


def refusal(found: DriftCheck, limits: Limits, done: Changes | None = None) -> str | None:
    """Return a sentence if the plan and what was `done` exceed a limit together, else None."""
    before = done or Changes()
    allowed = _allowed(found.settings, limits)
    planned = {
        "delete": (found.deletes, before.deletes),
        "replace": (found.replaces, before.replaces),
    }
    exceeded = [
        f"{verb} {counted(more, 'resource')}{f' after {so_far}' if so_far else ''} "
        f"(allowed: {allowed[verb]}; see --max-{verb}s)"
        for verb, (more, so_far) in planned.items()
        if more and more + so_far > allowed[verb]
    ]
    return f"Not repaired: the update would {' and '.join(exceeded)}." if exceeded else None


def _allowed(settings: DriftSettings, limits: Limits) -> dict[str, int]:
    return {
        "delete": settings.max_deletes if limits.max_deletes is None else limits.max_deletes,
        "replace": settings.max_replaces if limits.max_replaces is None else limits.max_replaces,
    }


def _check(stack: StackEngine, limits: Limits) -> DriftCheck:
    return _wait_for_lock(lambda: check_drift(stack), limits)


def _wait_for_lock(work: Callable[[], T], limits: Limits) -> T:
    """Repeat the work while another update holds the lock, until the time is up."""
    end = time.monotonic() + limits.wait_seconds
    while True:
        try:
            return work()
        except LockedError:
            if time.monotonic() + limits.pause_seconds > end:
                raise
            time.sleep(limits.pause_seconds)
