"""U2: which requests are retried, how long the client waits, and when it gives up."""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from coder_stack.coderd.connection import Deadlines
from coder_stack.coderd.errors import (
    AnswerLost,
    CoderdError,
    ProtocolError,
    RateLimited,
    Unavailable,
)
from coder_stack.coderd.retry import seconds_to_wait
from tests.unit.coderd.every_call import CHANGE_SOMETHING, EVERY_CALL, NOT_REPEATED
from tests.unit.coderd.fakes import NOW, FakeClock, Handler, answer, coderd, error_of, message
from tests.unit.coderd.good_answers import GOOD

REPEATED = tuple(name for name in EVERY_CALL if name not in NOT_REPEATED)
SLOW_DOWN = message("You've been rate limited for sending more than 512 requests in 1m0s.")


class Script:
    """Plays outcomes one after the other, then good answers, and counts."""

    def __init__(self, method: str, *outcomes: httpx.Response | Exception) -> None:
        self._outcomes: Iterator[httpx.Response | Exception] = iter(outcomes)
        self._good = GOOD[method]
        self.asked = 0

    def __call__(self, _: httpx.Request) -> httpx.Response:
        self.asked += 1
        outcome = next(self._outcomes, None)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome or answer(*self._good)


def forever(outcome: int | Exception, **headers: str) -> Handler:
    def handler(_: httpx.Request) -> httpx.Response:
        if isinstance(outcome, Exception):
            raise outcome
        return answer(outcome, b"", ours=False, **headers)

    return handler


@pytest.mark.parametrize("method", EVERY_CALL)
def test_U2_every_call_waits_as_told_by_a_429(method: str) -> None:
    clock = FakeClock()
    script = Script(method, answer(429, SLOW_DOWN, retry_after="7"))

    EVERY_CALL[method](coderd(script, clock=clock))

    assert script.asked == 2
    assert len(clock.sleeps) == 1
    assert 7 <= clock.sleeps[0] < 8


def test_U2_retry_after_may_be_a_date() -> None:
    clock = FakeClock()
    date = format_datetime(NOW + timedelta(seconds=12), usegmt=True)
    script = Script("licenses", answer(429, SLOW_DOWN, retry_after=date))

    coderd(script, clock=clock).licenses()

    assert 12 <= clock.elapsed < 13


@pytest.mark.parametrize("status", [502, 503, 504])
@pytest.mark.parametrize("method", REPEATED)
def test_U2_an_unavailable_server_is_asked_again(method: str, status: int) -> None:
    script = Script(method, answer(status, b"<html>", ours=False), answer(status, b"", ours=False))

    EVERY_CALL[method](coderd(script))

    assert script.asked == 3


@pytest.mark.parametrize("error", [httpx.ReadError("x"), httpx.ReadTimeout("x"), OSError("x")])
@pytest.mark.parametrize("method", REPEATED)
def test_U2_a_broken_connection_is_tried_again(method: str, error: Exception) -> None:
    script = Script(method, error)

    EVERY_CALL[method](coderd(script))

    assert script.asked == 2


@pytest.mark.parametrize("status", [502, 503, 504])
@pytest.mark.parametrize("method", NOT_REPEATED)
def test_U3_a_post_is_not_repeated_when_it_may_have_arrived(method: str, status: int) -> None:
    script = Script(method, answer(status, b"", ours=False))

    error = error_of(lambda: EVERY_CALL[method](coderd(script)))

    assert isinstance(error, Unavailable)
    assert error.may_have_happened
    assert script.asked == 1


@pytest.mark.parametrize(
    "lost",
    [
        httpx.ReadError("x"),
        httpx.ReadTimeout("x"),
        httpx.WriteError("x"),
        httpx.RemoteProtocolError("x"),
        OSError("x"),
    ],
)
@pytest.mark.parametrize("method", NOT_REPEATED)
def test_U3_a_post_whose_answer_was_lost_says_so(method: str, lost: Exception) -> None:
    script = Script(method, lost)

    error = error_of(lambda: EVERY_CALL[method](coderd(script)))

    assert isinstance(error, AnswerLost)
    assert error.may_have_happened
    assert "look it up" in str(error)
    assert script.asked == 1


@pytest.mark.parametrize("error", [httpx.ConnectError("x"), httpx.ConnectTimeout("x")])
@pytest.mark.parametrize("method", EVERY_CALL)
def test_U2_what_never_left_may_be_tried_again_even_a_post(method: str, error: Exception) -> None:
    script = Script(method, error, error)

    EVERY_CALL[method](coderd(script))

    assert script.asked == 3


@pytest.mark.parametrize("method", NOT_REPEATED)
def test_CP8_no_ready_endpoint_may_be_tried_again_even_a_post(method: str) -> None:
    status = {"kind": "Status", "apiVersion": "v1", "message": "no endpoints available for x"}
    script = Script(method, answer(503, status, ours=False))

    EVERY_CALL[method](coderd(script))

    assert script.asked == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 500, 501])
@pytest.mark.parametrize("method", EVERY_CALL)
def test_a_refusal_is_not_asked_again(method: str, status: int) -> None:
    script = Script(method, answer(status, message("Something.")))

    with contextlib.suppress(CoderdError):  # which leaf it is, is another test's matter
        EVERY_CALL[method](coderd(script))

    assert script.asked == 1


@pytest.mark.parametrize(
    "outcome", [429, 503, httpx.ConnectError("x"), httpx.ReadTimeout("x")], ids=str
)
def test_U2_the_deadline_is_kept(outcome: int | Exception) -> None:
    clock = FakeClock()
    client = coderd(forever(outcome), clock=clock, deadlines=Deadlines(total=20))

    error = error_of(client.licenses)

    assert isinstance(error, Unavailable)
    assert 10 < clock.elapsed <= 20


def test_U2_a_wait_that_outlasts_the_deadline_is_not_begun() -> None:
    clock = FakeClock()
    client = coderd(forever(429, retry_after="3600"), clock=clock, deadlines=Deadlines(total=20))

    error = error_of(client.licenses)

    assert isinstance(error, RateLimited)
    assert error.retry_after == 3600
    assert clock.elapsed == 0


def test_U2_waits_grow_and_are_spread() -> None:
    clock = FakeClock()
    client = coderd(forever(503), clock=clock, deadlines=Deadlines(total=120))

    error_of(client.licenses)

    first, last = clock.sleeps[:4], clock.sleeps[8:]
    assert all(0.125 * 2**n <= wait <= 0.25 * 2**n for n, wait in enumerate(first))
    assert all(4 <= wait <= 8 for wait in last)
    assert len(set(clock.sleeps)) == len(clock.sleeps)


def test_an_attempt_gets_no_more_time_than_is_left() -> None:
    clock = FakeClock()
    limits: list[float] = []

    def slow(request: httpx.Request) -> httpx.Response:
        limits.append(request.extensions["timeout"]["read"])
        clock.pass_time(6)
        raise httpx.ReadTimeout("x")

    client = coderd(slow, clock=clock, deadlines=Deadlines(read=10, total=15))
    error_of(client.licenses)

    assert limits[0] == 10
    assert limits[1] < 10
    assert limits[-1] <= 15 - 6 * (len(limits) - 1)


def test_a_body_that_trickles_in_ends_with_the_deadline() -> None:
    """The library's read timeout starts anew with every chunk; the deadline does not."""
    clock = FakeClock()

    class Trickle(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                clock.pass_time(1)
                yield b" "

    client = coderd(
        lambda _: httpx.Response(200, stream=Trickle()), clock=clock, deadlines=Deadlines(total=9)
    )

    assert isinstance(error_of(client.licenses), Unavailable)
    assert clock.elapsed <= 10


def test_an_endless_body_is_cut_off() -> None:
    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield b" " * 1024 * 1024

    client = coderd(lambda _: httpx.Response(200, stream=Endless()))

    error = error_of(client.licenses)

    assert isinstance(error, ProtocolError)
    assert error.fault == "too-large"


@pytest.mark.parametrize("method", EVERY_CALL)
def test_only_calls_that_change_something_leave_a_doubt(method: str) -> None:
    error = error_of(lambda: EVERY_CALL[method](coderd(forever(504))))

    assert error.may_have_happened is (method in CHANGE_SOMETHING)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        (" 30 ", 30),
        ("Wed, 02 Jan 2030 03:04:15 GMT", 10),
        ("Wed, 02 Jan 2030 03:04:15", 10),
        ("Wed, 02 Jan 2020 03:04:15 GMT", 0),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("\uff19", None),
        ("Wed, 99 Jan 2030 03:04:15 GMT", None),
        (None, None),
    ],
)
def test_retry_after_is_a_number_or_a_date(text: str | None, seconds: float | None) -> None:
    now = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert seconds_to_wait(text, now) == seconds
