"""A plain HTTP server on 127.0.0.1 that passes every request on, and lets a test act around one.

It stands before a coderd or an API server. Whoever holds the wire is told of each request before it
is passed on and after it was answered, and decides whether it goes on. What a request is for is
said without ids and random names, so that the same call is the same in every run.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.http_server import QuietHandler, serve

_ID = re.compile(r"/(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]+)(?=/|$)")
_TOKEN_ID = re.compile(r"(?<=/keys/)[0-9A-Za-z]{10}$")
_NAMESPACE = re.compile(r"^.*/namespaces/[^/]+(?=/)")
_HOP_BY_HOP = {
    "connection",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "keep-alive",
    "host",
    "accept-encoding",
}


@dataclass(frozen=True)
class Call:
    """One request, as the table of a crash suite names it."""

    server: str
    method: str
    path: str
    body: bytes = field(default=b"", compare=False, repr=False)

    @property
    def changes(self) -> bool:
        """Whether it is there to change something."""
        return self.method not in ("GET", "HEAD") and "dryRun=" not in self.path

    @property
    def object(self) -> str:
        """The path without what differs from run to run, and with the name of what is created."""
        path = urlsplit(self.path).path
        if self.server == "coderd":
            return _TOKEN_ID.sub("{id}", _ID.sub("/{id}", path.removeprefix("/api/v2")))
        if self.method == "POST":
            path += f"/{json.loads(self.body)['metadata']['name']}"
        return _NAMESPACE.sub("", path)

    def __str__(self) -> str:
        return f"{self.method} {self.object}"


@dataclass
class Wire:
    """Where it listens, and who is told. Either may answer True: then the request is cut off."""

    url: str = ""
    before: Callable[[Call], bool] = lambda _call: False
    after: Callable[[Call], bool] = lambda _call: False
    _open: int = 0
    _last: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def idle_for(self, seconds: float) -> bool:
        """Whether nothing has been on its way for so long."""
        with self._lock:
            return self._open == 0 and time.monotonic() - self._last > seconds

    @contextmanager
    def counted(self) -> Iterator[None]:
        """One request on its way."""
        with self._lock:
            self._open += 1
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1
                self._last = time.monotonic()


@contextmanager
def tripwire(server: str, upstream: httpx.Client) -> Iterator[Wire]:
    """Runs until the block ends. `upstream` brings its own address and credentials."""
    wire = Wire()
    # Many clients come through here: none may be given the cookie of another.
    upstream.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    class Handler(QuietHandler):
        def pass_on(self) -> None:
            body = self.read_body()
            call = Call(server, self.command, self.path, body)
            with wire.counted(), suppress(ConnectionError, httpx.HTTPError):
                if wire.before(call):
                    return
                # Headers of the client's own, such as the API server's credentials, win.
                headers = {**_passed_on(self.headers.items()), **upstream.headers}
                answer = upstream.request(self.command, self.path, headers=headers, content=body)
                if not wire.after(call):
                    passed = _passed_on(answer.headers.multi_items())
                    self.reply(answer.status_code, answer.content, **passed)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on  # noqa: N815  # the base's names

    with serve(Handler) as port:
        wire.url = f"http://127.0.0.1:{port}"
        yield wire


def _passed_on(headers: Any) -> dict[str, str]:
    return {name: value for name, value in headers if name.lower() not in _HOP_BY_HOP}
