"""A cache of lists, so that many concurrent reads cost one request.

An entry lives for a few seconds and is dropped when this process changes anything in coderd. Do not
decide a deletion by it.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar, cast

T = TypeVar("T")
_SECONDS = 5.0


class ListCache:
    """Lists by key; thread-safe. The first caller fetches, the others wait for its answer."""

    def __init__(
        self, seconds: float = _SECONDS, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._now = now
        self._lock = threading.Lock()
        self._entries: dict[str, tuple[float, Future[Any]]] = {}

    def get(self, key: str, fetch: Callable[[], T]) -> T:
        """Return the list under `key`, fetched if there is none. An error is not cached."""
        with self._lock:
            fetched_at, future = self._entries.get(key, (0.0, None))
            age = self._now() - fetched_at
            is_first = future is None or (future.done() and age > self._seconds)
            if is_first:
                future = Future[Any]()
                self._entries[key] = (self._now(), future)
        answer = cast("Future[T]", future)
        if is_first:
            try:
                answer.set_result(fetch())
            except BaseException as error:
                self._drop(key, answer)
                answer.set_exception(error)
                raise
        return answer.result()

    def forget(self) -> None:
        """Drop all entries after a change, also those that are being fetched."""
        with self._lock:
            self._entries.clear()

    def _drop(self, key: str, future: Future[Any]) -> None:
        with self._lock:
            if self._entries.get(key, (0.0, None))[1] is future:
                del self._entries[key]
