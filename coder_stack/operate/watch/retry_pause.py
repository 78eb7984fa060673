"""How long a stream of Kubernetes objects waits before its next connection (N1). Pure."""

from dataclasses import dataclass
from typing import Literal

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_LONGEST_FORBIDDEN_PAUSE = 300.0
"""A right that is missing mostly stays so; but an API server that starts refuses everything."""

Ending = Literal["ended", "expired", "refused", "failed"]


@dataclass
class RetryPause:
    """Grows with connections that were of no use."""

    _next: float = 0.0
    _has_expired: bool = False

    def after(self, ending: Ending, *, lived: bool) -> float:
        """Return the seconds; 0 after a stream that lived, and before the first new list."""
        if lived:
            self._next, self._has_expired = 0.0, False
        if ending == "ended" and lived:
            return 0.0
        if ending == "expired" and not self._has_expired:
            self._has_expired = True
            return 0.0
        longest = _LONGEST_FORBIDDEN_PAUSE if ending == "refused" else _LONGEST_PAUSE
        wait = max(self._next if self._next <= longest else 0.0, _FIRST_PAUSE)
        self._next = min(wait * 2, longest)
        return wait
