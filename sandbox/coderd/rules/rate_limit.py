"""coderd's rate limiter: a sliding window of one minute per client address and path.

The previous minute counts in proportion. Refused requests are not counted.
"""

import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from sandbox.coderd.rules.go_text import duration_string

WINDOW_SECONDS = 60


@dataclass(frozen=True)
class RateLimitDecision:
    """Whether the request may pass, and the values of the headers."""

    allowed: bool
    limit: int
    remaining: int
    reset: int

    def headers(self) -> list[tuple[str, str]]:
        """Return the rate limit headers."""
        headers = [
            ("X-RateLimit-Limit", str(self.limit)),
            ("X-RateLimit-Remaining", str(self.remaining)),
            ("X-RateLimit-Reset", str(self.reset)),
        ]
        return headers if self.allowed else [*headers, ("Retry-After", str(WINDOW_SECONDS))]

    @property
    def message(self) -> str:
        """Return the message of the 429."""
        window = duration_string(WINDOW_SECONDS)
        return f"You've been rate limited for sending more than {self.limit} requests in {window}."


class RateLimiter:
    """The counters of one limit."""

    def __init__(self) -> None:
        self._counts: dict[int, Counter[tuple[str, str]]] = {}

    def check(self, client: str, path: str, limit: int, now: datetime) -> RateLimitDecision:
        """Count the request if it may pass."""
        moment = now.timestamp()
        window = int(moment // WINDOW_SECONDS)
        self._forget_before(window - 1)
        key = (client, path)
        current = self._counts.setdefault(window, Counter())
        previous = self._counts.get(window - 1, Counter())[key]
        share = 1 - (moment % WINDOW_SECONDS) / WINDOW_SECONDS
        rate = math.floor(previous * share + current[key] + 0.5)
        reset = (window + 1) * WINDOW_SECONDS
        if rate + 1 > limit:
            return RateLimitDecision(
                allowed=False, limit=limit, remaining=limit - rate, reset=reset
            )
        current[key] += 1
        return RateLimitDecision(allowed=True, limit=limit, remaining=limit - rate - 1, reset=reset)

    def _forget_before(self, window: int) -> None:
        for old in [w for w in self._counts if w < window or w > window + 1]:
            del self._counts[old]
