"""One list of Kubernetes objects, kept up to date by a watch (N1).

Asks for metadata only: no Secret's bytes ever reach the watcher, and many objects cost little. A
stream that ends goes on from the last resourceVersion with a new connection, which reads the
kubeconfig and its token again. What cannot be read stays as it was seen last; what the API server
refuses is unknown.
"""

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationError

from coder_stack.cluster.client import connected, lines, not_kubernetes, refused
from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.coderd.errors import ApiServerRefused, CoderdError
from coder_stack.frozen_model import FrozenModel
from coder_stack.operate.watch.facts import Seen, Stream
from coder_stack.operate.watch.retry_pause import Ending, RetryPause

_OPERATION = "watch the stack's objects"
_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_WATCH = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
_PAGE = "500"
_STREAM_SECONDS = 290
"""Shorter than a bound token lives (10 minutes at least), so that none outlives its token."""
_SILENCE_SECONDS = 100.0
"""The API server sends a bookmark about every minute."""
_LIVED_SECONDS = 1.0
"""A stream that ends sooner was of no use: some proxies close every watch at once."""
_GONE, _NOT_SERVED = 410, 404
"""A kind that the cluster no longer serves has no objects."""


M = TypeVar("M", bound=FrozenModel)


class _Written(FrozenModel):
    time: datetime | None = None


class _Metadata(FrozenModel):
    name: str = ""
    uid: str = ""
    version: str = Field(default="", alias="resourceVersion")
    generation: int | None = None
    labels: Mapping[str, str] = Field(default_factory=dict[str, str])
    annotations: Mapping[str, str] = Field(default_factory=dict[str, str])
    written: tuple[_Written, ...] = Field(default=(), alias="managedFields")
    more: str = Field(default="", alias="continue")

    def seen(self) -> Seen:
        """Keep what is compared, and when it was written last."""
        times = [each.time for each in self.written if each.time]
        return Seen(
            uid=self.uid,
            resource_version=self.version,
            generation=self.generation,
            labels=self.labels,
            annotations=self.annotations,
            changed_at=max(times, default=None),
        )


class _Object(FrozenModel):
    metadata: _Metadata = _Metadata()


def _empty_if_null(value: object) -> object:
    return () if value is None else value


class _Page(FrozenModel):
    metadata: _Metadata = _Metadata()
    items: Annotated[tuple[_Object, ...], BeforeValidator(_empty_if_null)] = ()
    """`null` if no object has the labels."""


class _Event(FrozenModel):
    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: _Object = _Object()


class _ExpiredError(Exception):
    """The resourceVersion is too old: list again."""


@dataclass
class StreamState:
    """What one stream has seen; `objects` is None if that is unknown."""

    objects: Mapping[str, Seen] | None = None
    answered_at: float = 0.0
    failing: bool = False
    refused: int = 0
    """The status with which the API server refuses it; 0 if it does not."""


class StreamThread(threading.Thread):
    """Keeps one list up to date until it is told to stop."""

    def __init__(self, stream: Stream, cluster: Kubeconfig, changed: Callable[[], None]) -> None:
        super().__init__(name=f"watch {stream.collection}", daemon=True)
        self.stream = stream
        self.cluster = cluster
        self.state = StreamState(answered_at=time.monotonic())
        self._changed = changed
        self._stopped = threading.Event()
        self._version = ""
        self._opened_at: float | None = None

    def stop(self) -> None:
        """End when the current answer ends; its thread does not keep the process alive."""
        self._stopped.set()

    def run(self) -> None:
        """List and watch, with growing pauses after failures and after streams of no use."""
        pause = RetryPause()
        while not self._stopped.is_set():
            ending = self._connect()
            seconds = pause.after(ending, lived=self._has_lived)
            if seconds and ending != "refused":
                self._note(failing=True)
            self._stopped.wait(seconds * random.uniform(0.8, 1.2))  # noqa: S311  # only jitter

    def _connect(self) -> Ending:
        """Use one connection; return how it ended."""
        self._opened_at = None
        try:
            self._follow()
        except _ExpiredError:
            self._version = ""
            return "expired"
        except ApiServerRefused as error:
            self._version = ""
            if error.status != _NOT_SERVED:
                self._note(objects=None, refused=error.status or 0)
            return "refused"
        except CoderdError:
            return "failed"
        return "ended"

    @property
    def _has_lived(self) -> bool:
        opened = self._opened_at
        return opened is not None and time.monotonic() - opened > _LIVED_SECONDS

    def _follow(self) -> None:
        """Use one connection until the API server ends the stream."""
        with connected(self.cluster, Kubeconfig(), _OPERATION) as http:
            objects, version = self.state.objects, self._version
            if not version:
                objects, version = self._list(http)
            query = {
                **self._selection,
                "watch": "true",
                "allowWatchBookmarks": "true",
                "resourceVersion": version,
                "timeoutSeconds": str(_STREAM_SECONDS),
            }
            with lines(
                http,
                _OPERATION,
                self.stream.collection,
                query=query,
                accept=_WATCH,
                read_timeout=_SILENCE_SECONDS,
            ) as (status, events):
                self._raise_for(status)
                # Published only now: without the right to watch, a list is soon out of date.
                self._version, self._opened_at = version, time.monotonic()
                self._note(objects=objects)
                for line in events:
                    if self._stopped.is_set():
                        return
                    self._take(_parsed(_Event, line))

    def _list(self, http: Any) -> tuple[Mapping[str, Seen], str]:
        """Return the objects, and the resourceVersion to watch from."""
        found: dict[str, Seen] = {}
        query = {**self._selection, "limit": _PAGE}
        while True:
            page = self._page(http, query)
            found |= {item.metadata.name: item.metadata.seen() for item in page.items}
            if not page.metadata.more:
                break
            query["continue"] = page.metadata.more
        return found, page.metadata.version

    def _page(self, http: Any, query: Mapping[str, str]) -> _Page:
        with lines(
            http,
            _OPERATION,
            self.stream.collection,
            query=query,
            accept=_LIST,
            read_timeout=_SILENCE_SECONDS,
        ) as (status, body):
            if status == _NOT_SERVED:
                self._note(objects={})
            self._raise_for(status)
            return _parsed(_Page, b"".join(body))

    def _take(self, event: _Event) -> None:
        if event.type == "ERROR":
            raise _ExpiredError  # whatever its code: a new list has an answer of its own
        metadata = event.object.metadata
        self._version = metadata.version
        known = dict(self.state.objects or {})
        if event.type == "DELETED":
            known.pop(metadata.name, None)
        elif event.type in ("ADDED", "MODIFIED"):
            known[metadata.name] = metadata.seen()
        self._note(objects=known)

    def _note(self, **changes: Any) -> None:
        """Publish a new state at once: other threads read it without a lock."""
        before = self.state
        is_blind = changes.get("failing") or changes.get("refused")
        answered_at = before.answered_at if is_blind else time.monotonic()
        changes = {"failing": False, "refused": 0, **changes}
        self.state = replace(before, answered_at=answered_at, **changes)
        if replace(before, answered_at=answered_at) != self.state:
            self._changed()

    def _raise_for(self, status: int) -> None:
        if status == _GONE:
            raise _ExpiredError
        if status != 200:
            raise refused(_OPERATION, status, "list and watch them")

    @property
    def _selection(self) -> Mapping[str, str]:
        return {"labelSelector": self.stream.selector} if self.stream.selector else {}


def _parsed(model: type[M], text: bytes) -> M:
    try:
        return model.model_validate_json(text)
    except ValidationError:
        raise not_kubernetes(_OPERATION, 200) from None
