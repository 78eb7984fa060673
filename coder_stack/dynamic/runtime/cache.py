"""A cache of coderd's answers, so that many concurrent reads cost one request.

An entry lives as long as reads keep asking for it, a minute at most, so that the refresh of a large
stack costs one request for each. It is dropped when this process changes anything in coderd. Do not
decide a deletion by it.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

T = TypeVar("T")
_SECONDS = 5.0
_LONGEST = 60.0


@dataclass
class _Entry:
    fetched_at: float
    used_at: float = 0.0
    future: Future[Any] = field(default_factory=Future[Any])


class AnswerCache:
    """Answers by name; thread-safe. The first caller fetches, the others wait for its answer."""

    def __init__(
        self,
        seconds: float = _SECONDS,
        longest: float = _LONGEST,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds  # without use
        self._longest = longest
        self._now = now
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}

    def get(self, name: str, fetch: Callable[[], T]) -> T:
        """Return the answer of that name, fetched if there is none. An error is not cached."""
        with self._lock:
            now = self._now()
            entry = self._entries.get(name)
            is_first = entry is None or (entry.future.done() and self._is_old(entry, now))
            if entry is None or is_first:
                entry = self._entries[name] = _Entry(now)
            entry.used_at = now
        answer = cast("Future[T]", entry.future)
        if is_first:
            try:
                answer.set_result(fetch())
            except BaseException as error:
                self._drop(name, answer)
                answer.set_exception(error)
                raise
        return answer.result()

    def forget(self) -> None:
        """Drop all entries after a change, also those that are being fetched."""
        with self._lock:
            self._entries.clear()

    def _is_old(self, entry: _Entry, now: float) -> bool:
        return now - entry.used_at > self._seconds or now - entry.fetched_at > self._longest

    def _drop(self, name: str, future: Future[Any]) -> None:
        with self._lock:
            entry = self._entries.get(name)
            if entry is not None and entry.future is future:
                del self._entries[name]
