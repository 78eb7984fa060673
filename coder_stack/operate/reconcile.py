"""Repair one stack, if there is drift and the repair is no bigger than allowed (D3).

Looks first, and does nothing on a clean stack. Then one `pulumi up --refresh`, which the backend's
lock keeps alone, and another look that says what came of it. What a rule ignores starts no repair,
and a resource of which it ignores all is left out of one.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from coder_stack.operate.drift import Look, look
from coder_stack.operate.engine import StackEngine
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
    before = _patiently(lambda: look(stack), limits)
    if before.report.result == "clean":
        return before.report
    if refused := refusal(before, limits):
        return before.report.model_copy(update={"refused": refused})
    _patiently(lambda: stack.up(before.spared), limits)
    after = _patiently(lambda: look(stack), limits)
    return after.report.model_copy(update={"repaired": True})


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
