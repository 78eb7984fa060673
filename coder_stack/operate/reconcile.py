"""Repair one stack, if there is drift and the repair is no bigger than allowed (D3).

Looks first, and does nothing on a clean stack. What keeps coderd out of reach is repaired before
the rest can be looked at. Then one `pulumi up --refresh`, which the backend's lock keeps alone, and
another look that says what came of it. What a rule ignores starts no repair, and a resource of
which it ignores all is left out of one.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from coder_stack.operate.drift import Look, look
from coder_stack.operate.engine import CutShortError, StackEngine
from coder_stack.operate.failures import LockedError
from coder_stack.operate.report import Report
from coder_stack.settings import Drift

__all__ = ["Limits", "reconcile", "refusal"]

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """From the command line; None: as the stack's config says."""

    max_deletes: int | None = None
    max_replaces: int | None = None
    wait_seconds: float = 0
    """For whoever holds the stack; asked again after each pause."""
    pause_seconds: float = 2


def reconcile(stack: StackEngine, limits: Limits) -> Report:
    """What a look says after the repair, or before it if there was none."""
    found, repaired = _looked(stack, limits), False
    if found.first:
        found, repaired = _within_reach(stack, limits, found.first), True
    if found.report.result != "drift":
        return found.report.model_copy(update={"repaired": repaired})
    if refused := refusal(found, limits):
        return found.report.model_copy(update={"repaired": repaired, "refused": refused})
    spared = found.spared
    _patiently(lambda: stack.up(spared=spared), limits)
    return _looked(stack, limits).report.model_copy(update={"repaired": True})


def _within_reach(stack: StackEngine, limits: Limits, first: Sequence[str]) -> Look:
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


def refusal(found: Look, limits: Limits) -> str | None:
    """One sentence, if the plan deletes or replaces more than allowed."""
    allowed = _allowed(found.settings, limits)
    planned = {"delete": found.deletes, "replace": found.replaces}
    over = [
        f"{verb} {planned[verb]} resources (allowed: {allowed[verb]}; see --max-{verb}s)"
        for verb in planned
        if planned[verb] > allowed[verb]
    ]
    return f"Not repaired: the update would {' and '.join(over)}." if over else None


def _allowed(settings: Drift, limits: Limits) -> dict[str, int]:
    return {
        "delete": settings.max_deletes if limits.max_deletes is None else limits.max_deletes,
        "replace": settings.max_replaces if limits.max_replaces is None else limits.max_replaces,
    }


def _looked(stack: StackEngine, limits: Limits) -> Look:
    return _patiently(lambda: look(stack), limits)


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
