"""A fake coderd, a fake clock, and secrets that must never be printed."""

import threading
import traceback
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection, Deadlines
from coder_stack.coderd.errors import CoderdError
from coder_stack.coderd.retry import Clock

URL = "https://coder.test"
TOKEN = "tokentoken-SECRETtokenSECRETtok42"
PASSWORD = "SECRETpassword-of-the-first-user"
LICENSE = "SECRETheader.SECRETpayload.SECRETsignature"
KEY = "SECRETkey" + "k" * 34
SECRETS = (TOKEN, PASSWORD, LICENSE, KEY)
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
ID = "5f0f4a44-7d1e-4a7c-9d3c-0d7f7f0c1b11"
TIME = "2030-01-01T00:00:00Z"

Handler = Callable[[httpx.Request], httpx.Response]


class FakeClock:
    """A clock per thread that only sleep() and pass_time() move."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def elapsed(self) -> float:
        return getattr(self._local, "elapsed", 0.0)

    @property
    def sleeps(self) -> list[float]:
        return self._local.__dict__.setdefault("sleeps", [])

    def pass_time(self, seconds: float) -> None:
        self._local.elapsed = self.elapsed + seconds

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.pass_time(seconds)

    def clock(self) -> Clock:
        return Clock(
            monotonic=lambda: 1000.0 + self.elapsed,
            sleep=self.sleep,
            now=lambda: NOW + timedelta(seconds=self.elapsed),
        )


def coderd(
    handler: Handler,
    *,
    url: str = URL,
    token: str | None = TOKEN,
    clock: FakeClock | None = None,
    allow_insecure: bool = False,
    deadlines: Deadlines | None = None,
) -> Coderd:
    connection = Connection(
        base_url=url,
        token=None if token is None else SecretStr(token),
        allow_insecure=allow_insecure,
        deadlines=deadlines or Deadlines(),
    )
    transport = httpx.MockTransport(handler)
    return Coderd(connection, transport=transport, clock=(clock or FakeClock()).clock())


def answer(status: int, body: Any = None, *, ours: bool = True, **headers: str) -> httpx.Response:
    """Build a response of coderd, or (ours=False) one without coderd's version header."""
    mark = {"X-Coder-Build-Version": "v2.30.0+abc1234"} if ours else {}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(body, bytes):
        return httpx.Response(status, content=body, headers=mark | named)
    return httpx.Response(status, json=body, headers=mark | named)


def message(text: str, detail: str = "", fields: Iterable[str] = ()) -> dict[str, Any]:
    body: dict[str, Any] = {"message": text}
    if detail:
        body["detail"] = detail
    if fields:
        body["validations"] = [{"field": field, "detail": "no"} for field in fields]
    return body


def always(response: httpx.Response) -> Handler:
    """Answer each request with a copy, because a response can be read only once."""

    def handler(_: httpx.Request) -> httpx.Response:
        return httpx.Response(
            response.status_code, content=response.content, headers=response.headers
        )

    return handler


def shown(error: BaseException) -> str:
    """Return everything of an error that could be printed."""
    return "\n".join(
        [str(error), repr(error), *traceback.format_exception(error), repr(vars(error))]
    )


def error_of(call: Callable[[], object]) -> CoderdError:
    """Return the error that the call must raise."""
    try:
        result = call()
    except CoderdError as error:
        return error
    raise AssertionError(f"ended well with {result!r}")
