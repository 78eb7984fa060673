"""Lists that many reads share: one request for a burst of them, not one each.

Short-lived on purpose: a list serves those who ask while it is being fetched and for a few seconds
after, and is dropped as soon as this process changes anything. Never decide a deletion by it.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar, cast

__all__ = ["ListCache"]

T = TypeVar("T")
_SECONDS = 5.0


class ListCache:
    """Thread-safe; the first to ask fetches, the others wait for the same answer."""

    def __init__(
        self, seconds: float = _SECONDS, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._now = now
        self._lock = threading.Lock()
        self._held: dict[str, tuple[float, Future[Any]]] = {}

    def get(self, key: str, fetch: Callable[[], T]) -> T:
        """The list under `key`, fetched now or a moment ago. An error is shared, but not kept."""
        with self._lock:
            since, future = self._held.get(key, (0.0, None))
            mine = future is None or (future.done() and self._now() - since > self._seconds)
            if mine:
                future = Future[Any]()
                self._held[key] = (self._now(), future)
        answer = cast("Future[T]", future)
        if mine:
            try:
                answer.set_result(fetch())
            except BaseException as error:
                self._drop(key, answer)
                answer.set_exception(error)
                raise
        return answer.result()

    def forget(self) -> None:
        """Something changed: whoever asks from now on gets a list that was fetched after this."""
        with self._lock:
            self._held.clear()

    def _drop(self, key: str, future: Future[Any]) -> None:
        with self._lock:
            if self._held.get(key, (0.0, None))[1] is future:
                del self._held[key]
