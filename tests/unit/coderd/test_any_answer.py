"""Any response ends in a model or a typed error, and no message holds a secret."""

import json
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coder_stack.coderd.connection import Deadlines
from coder_stack.coderd.errors import CoderdError
from tests.unit.coderd.every_call import EVERY_CALL
from tests.unit.coderd.fakes import SECRETS, FakeClock, coderd, shown
from tests.unit.coderd.good_answers import GOOD

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(SECRETS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
WORDS = st.sampled_from(
    [
        "message",
        "detail",
        "validations",
        "field",
        "kind",
        "apiVersion",
        "regions",
        "key",
        "daemons",
        "claims",
        "features",
        "id",
        "name",
    ]
)
ALMOST = st.dictionaries(WORDS, JSON | st.dictionaries(WORDS, JSON), max_size=6)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "X-Coder-Build-Version": st.just("v2.30.0"),
        "Retry-After": st.text(st.characters(min_codepoint=32, max_codepoint=126)),
        "Location": st.sampled_from([*SECRETS, "https://[", "//", "https://coder.test:x/", ""]),
        "Set-Cookie": st.sampled_from(["a=b", "coder_session_token=x; Domain=.test", "=;=;", ""]),
        "Content-Encoding": st.sampled_from(["gzip", "deflate", "identity", "br", "nonsense"]),
        "Content-Type": st.sampled_from(["text/html", "application/json; charset=nonsense", "x"]),
    },
)


def ends_in_a_model_or_a_typed_error(method: str, response: httpx.Response) -> None:
    clock = FakeClock()

    def handler(_: httpx.Request) -> httpx.Response:
        clock.pass_time(1)
        return httpx.Response(
            response.status_code,
            stream=httpx.ByteStream(response.extensions["body"]),
            headers=response.headers,
        )

    client = coderd(handler, clock=clock, deadlines=Deadlines(total=5))
    error = None
    try:
        EVERY_CALL[method](client)
    except CoderdError as caught:
        error = caught
    if error is not None:
        text = shown(error)
        assert error.reason
        assert error.operation
        assert not any(secret in text for secret in SECRETS)
        assert error.__cause__ is None


def response(status: int, body: bytes, headers: dict[str, str]) -> httpx.Response:
    return httpx.Response(status, headers=headers, extensions={"body": body})


relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@relaxed
@given(
    method=st.sampled_from(sorted(EVERY_CALL)),
    status=st.integers(min_value=100, max_value=999),
    body=st.binary(max_size=200) | st.sampled_from([s.encode() for s in SECRETS]),
    headers=HEADERS,
)
def test_any_bytes_with_any_status(
    method: str, status: int, body: bytes, headers: dict[str, str]
) -> None:
    ends_in_a_model_or_a_typed_error(method, response(status, body, headers))


@relaxed
@given(
    method=st.sampled_from(sorted(EVERY_CALL)),
    status=st.sampled_from([200, 201, 204, 400, 401, 403, 404, 409, 429, 500, 503]),
    body=JSON | ALMOST | st.lists(ALMOST, max_size=3),
    headers=HEADERS,
)
def test_any_json_with_any_documented_status(
    method: str, status: int, body: Any, headers: dict[str, str]
) -> None:
    headers.pop("Content-Encoding", None)
    ends_in_a_model_or_a_typed_error(method, response(status, json.dumps(body).encode(), headers))


def paths(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner: list[tuple[str | int, ...]] = [at]
    if isinstance(value, dict):
        for key in value:
            inner += paths(value[key], (*at, key))
    if isinstance(value, list):
        for index, item in enumerate(value):
            inner += paths(item, (*at, index))
    return inner


def replaced(value: Any, at: tuple[str | int, ...], new: Any) -> Any:
    if not at:
        return new
    first, *rest = at
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[first] = replaced(copy[first], tuple(rest), new)  # type: ignore[index]
    return copy


@relaxed
@given(method=st.sampled_from(sorted(EVERY_CALL)), new=JSON, data=st.data())
def test_a_good_answer_with_one_wrong_value(method: str, new: Any, data: st.DataObject) -> None:
    """Replace one value of a good response: parsers fail on what is nearly right."""
    status, body = GOOD[method]
    if not isinstance(body, bytes):
        at = data.draw(st.sampled_from(paths(body)))
        body = json.dumps(replaced(body, at, new)).encode()

    ends_in_a_model_or_a_typed_error(method, response(status, body, {}))


@settings(relaxed, max_examples=20)
@given(
    method=st.sampled_from(sorted(EVERY_CALL)),
    body=st.sampled_from([b"[" * 100_000, b'{"a":' * 100_000, b"9" * 100_000, b'"' + b"a" * 10**6]),
    status=st.sampled_from([200, 201, 404]),
)
def test_json_made_to_hurt(method: str, body: bytes, status: int) -> None:
    ends_in_a_model_or_a_typed_error(method, response(status, body, {}))
