"""The outage budget: how long one process waits for a coderd that does not answer (K6).

All reads of `check` and `diff` on one connection share a budget, because fifty waits of five
seconds each would take minutes. After one delete got no answer, the others get a short deadline
(session.py). Knows no HTTP.
"""

import threading
import time
from collections.abc import Callable

BUDGET_SECONDS = 5.0
COOLDOWN_SECONDS = 10.0
"""How long a spent budget stays spent."""


class OutageBudget:
    """The budget of one connection; thread-safe."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._until: float | None = None
        self.delete_failed = False
        """Whether a delete got no answer. Never reset: the remaining deletes are best effort."""

    def seconds_left(self) -> float:
        """Start the budget with the first read, and return what is left; skip the read at 0."""
        with self._lock:
            now = self._now()
            if self._until is None or now >= self._until + COOLDOWN_SECONDS:
                self._until = now + BUDGET_SECONDS
            return self._until - now

    def reset(self) -> None:
        """Restore the whole budget after an answer."""
        with self._lock:
            self._until = None
