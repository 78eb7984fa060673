"""Decide when to retry a request, how long to wait, and when to give up (U2).

A 429, and what cannot have reached coderd, is retried for every request. 502/503/504 and broken
connections are retried only for idempotent requests. After the lost response of a POST the caller
looks first (U3).
"""

import logging
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception

from coder_stack.coderd.errors import Unavailable
from coder_stack.coderd.request import Request

T = TypeVar("T")
_log = logging.getLogger(__name__)
_FIRST_WAIT = 0.25
_LONGEST_WAIT = 8.0


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Clock:
    """Time and randomness, for tests to replace."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime] = _utc_now
    between: Callable[[float, float], float] = random.uniform  # for jitter, not for security


class Deadline:
    """A moment on the monotonic clock."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds until then; negative when it has passed."""
        return self._end - self._clock.monotonic()


def with_retries(request: Request, attempt: Callable[[], T], deadline: Deadline, clock: Clock) -> T:
    """Return the result of the first successful attempt, or raise the last error.

    Gives up at once if the next wait would end after the deadline.
    """

    def may_retry(error: BaseException) -> bool:
        return isinstance(error, Unavailable) and (
            request.idempotent or not error.may_have_happened
        )

    def wait(state: RetryCallState) -> float:
        grown = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(state.attempt_number - 1, 10))
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, Unavailable) and error.retry_after is not None:
            # All clients were told the same moment: add jitter.
            return error.retry_after + clock.between(0, _FIRST_WAIT)
        return clock.between(grown / 2, grown)

    def stop(state: RetryCallState) -> bool:
        return state.upcoming_sleep >= deadline.left()

    def log(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        _log.debug("%s; trying again in %.1f s", error, state.upcoming_sleep)

    return Retrying(
        retry=retry_if_exception(may_retry),
        wait=wait,
        stop=stop,
        sleep=clock.sleep,
        before_sleep=log,
        reraise=True,
    )(attempt)


def seconds_to_wait(retry_after: str | None, now: datetime) -> float | None:
    """Parse `Retry-After`, a number of seconds or an HTTP date; None if it is neither."""
    if retry_after is None:
        return None
    text = retry_after.strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        # HTTP dates without a zone are in UTC.
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (aware - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
