"""Repair one stack, if there is drift and the repair is no bigger than allowed (D3).

Looks first, and does nothing on a clean stack. What keeps coderd out of reach is repaired before
the rest can be looked at. Then a `pulumi up --refresh` of exactly the resources that the look has
counted, which the backend's lock keeps alone: what changed since is not touched. Another look says
what came of it, and what it finds beyond is repaired in a further round within the same limits.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from coder_stack.operate.drift import DriftCheck, check_drift
from coder_stack.operate.engine.errors import LockedError
from coder_stack.operate.engine.events import EngineRun
from coder_stack.operate.engine.pulumi import CutShortError, StackEngine
from coder_stack.operate.report.model import Report
from coder_stack.settings import DriftSettings

__all__ = ["Limits", "Progress", "reconcile", "refusal"]

T = TypeVar("T")
# One does for most. A license that came back opens the gate of what depends on it, for the next.
_ROUNDS = 3


@dataclass(frozen=True)
class Limits:
    """From the command line; None: as the stack's config says."""

    max_deletes: int | None = None
    max_replaces: int | None = None
    wait_seconds: float = 0
    """For whoever holds the stack; asked again after each pause."""
    pause_seconds: float = 2


@dataclass(frozen=True)
class Progress:
    """What the updates of this run have deleted and replaced so far."""

    deletes: int = 0
    replaces: int = 0


def reconcile(stack: StackEngine, limits: Limits) -> Report:
    """What a look says after the repair, or before it if there was none."""
    found, repaired = _looked(stack, limits), False
    if found.first:
        found, repaired = _within_reach(stack, limits, found.first), True
    done, tried = Progress(), set[str]()
    for _ in range(_ROUNDS):
        if found.report.result != "drift":
            break
        if refused := refusal(found, limits, done):
            return found.report.model_copy(update={"repaired": repaired, "refused": refused})
        tried |= set(found.repairs)
        run, cut = _updated(stack, limits, found.repairs)
        done = Progress(done.deletes + run.deletes, done.replaces + run.replaces)
        found, repaired = _looked(stack, limits), True
        if tried.issuperset(found.repairs):
            if cut is not None:
                raise cut
            break
    return found.report.model_copy(update={"repaired": repaired})


def _updated(
    stack: StackEngine, limits: Limits, repairs: Sequence[str]
) -> tuple[EngineRun, CutShortError | None]:
    """What the update did. One that was cut short may lack what has gone missing since the look."""
    try:
        return _patiently(lambda: stack.up(only=repairs), limits), None
    except CutShortError as cut:
        return cut.run, cut


def _within_reach(stack: StackEngine, limits: Limits, first: Sequence[str]) -> DriftCheck:
    """Repair only that, and look at the rest.

    An update of a part may stumble over another one, such as a key that is gone too. That one is
    for the update of the whole; the error counts only if the part itself is still not well.
    """
    try:
        _patiently(lambda: stack.up(only=first), limits)
    except CutShortError:
        found = _looked(stack, limits)
        if set(found.first) & set(first):
            raise
        return found
    return _looked(stack, limits)


def refusal(found: DriftCheck, limits: Limits, done: Progress | None = None) -> str | None:
    """One sentence, if the plan deletes or replaces more than allowed, with what was `done`."""
    before = done or Progress()
    allowed = _allowed(found.settings, limits)
    planned = {
        "delete": (found.deletes, before.deletes),
        "replace": (found.replaces, before.replaces),
    }
    over = [
        f"{verb} {more} resources{f' after {so_far}' if so_far else ''} "
        f"(allowed: {allowed[verb]}; see --max-{verb}s)"
        for verb, (more, so_far) in planned.items()
        if more and more + so_far > allowed[verb]
    ]
    return f"Not repaired: the update would {' and '.join(over)}." if over else None


def _allowed(settings: DriftSettings, limits: Limits) -> dict[str, int]:
    return {
        "delete": settings.max_deletes if limits.max_deletes is None else limits.max_deletes,
        "replace": settings.max_replaces if limits.max_replaces is None else limits.max_replaces,
    }


def _looked(stack: StackEngine, limits: Limits) -> DriftCheck:
    return _patiently(lambda: check_drift(stack), limits)


def _patiently(work: Callable[[], T], limits: Limits) -> T:
    """Try again while somebody else holds the stack, until the time is up."""
    end = time.monotonic() + limits.wait_seconds
    while True:
        try:
            return work()
        except LockedError:
            if time.monotonic() + limits.pause_seconds > end:
                raise
            time.sleep(limits.pause_seconds)
