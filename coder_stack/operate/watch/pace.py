"""How often one reason may start an engine run (N1). Pure; the caller brings the time.

A few runs may follow each other at once. After that each waits longer, until the count goes down as
fast as the runs let it grow: what changes all the time, or what somebody undoes after each repair,
costs one run in each `cooling` seconds.
"""

from dataclasses import dataclass


@dataclass
class Pace:
    """Counts recent runs; the count goes down by one in each `cooling` seconds."""

    burst: int = 3
    """So many runs need no wait."""
    first_wait: float = 60.0
    cooling: float = 300.0
    _count: float = 0.0
    _last: float = 0.0

    def started(self, now: float) -> None:
        """Count a run."""
        self._count = self._cooled(now) + 1
        self._last = now

    def allowed_at(self, now: float) -> float:
        """Return when the next run may start; not later than `now` if it may start at once."""
        surplus = self._cooled(now) - self.burst
        if surplus < 0:
            return now
        return self._last + self.first_wait * 2.0**surplus

    def is_calm(self, now: float) -> bool:
        """Tell whether no recent run counts any more."""
        return self._cooled(now) <= 0

    def _cooled(self, now: float) -> float:
        return max(0.0, self._count - (now - self._last) / self.cooling)
