"""How long this process still waits for a coderd that does not answer: shared by all resources.

One look that waits five seconds is fine; fifty of them are minutes. Looks in passing therefore draw
on one budget per connection. Deletes have the client's whole deadline until one of them got no
answer within it; from then on each makes a short attempt (K6). Thread-safe; knows no HTTP.
"""

import threading
import time
from collections.abc import Callable

__all__ = ["OutageBudget"]

LOOKS = 5.0
"""Seconds that all looks at a silent coderd may take together."""
REST = 10.0
"""Seconds after that in which nobody looks at all."""


class OutageBudget:
    """Of one connection in one process."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._until: float | None = None
        self._gave_up = False

    def for_a_look(self) -> float:
        """Seconds that a look which starts now may take; not above zero: it is not worth one."""
        with self._lock:
            now = self._now()
            if self._until is None or now >= self._until + REST:
                self._until = now + LOOKS
            return self._until - now

    def answered(self) -> None:
        """Coderd is there: the next look may wait anew."""
        with self._lock:
            self._until = None

    @property
    def gave_up(self) -> bool:
        """Whether a delete has waited in vain already."""
        return self._gave_up

    def give_up(self) -> None:
        """A delete has waited for as long as it may. Not taken back: the rest is best effort."""
        self._gave_up = True
