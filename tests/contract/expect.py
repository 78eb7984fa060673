"""What the tests say about answers, in one place: errors, shapes, headers."""

from typing import Any

import httpx

from sandbox.coderd.rules.versions import CHALLENGE
from tests.contract.servers import Server

NOT_FOUND = "Resource not found or you do not have access to this resource"
SIGNED_OUT = "You are signed out or your session has expired. Please sign in again to continue."
NO_ROUTE = "Route not found."
NO_USER = '"user" must be an existing uuid or username.'
JSON_TYPE = "application/json; charset=utf-8"


def refusal(
    answer: httpx.Response, status: int, message: str, detail: str | None = None
) -> dict[str, Any]:
    """The answer is this error, as JSON with only the fields an error has."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == JSON_TYPE
    body = answer.json()
    assert body["message"] == message
    if detail is not None:
        assert body.get("detail", "") == detail
    assert set(body) <= {"message", "detail", "validations"}
    return body


def validation(answer: httpx.Response, **fields: str) -> None:
    """The answer is a failed validation of exactly these fields, each for this tag."""
    body = refusal(answer, 400, "Validation failed.")
    found = {fault["field"]: fault["detail"].split('"')[1] for fault in body["validations"]}
    assert found == fields


def shape(value: object, expected: dict[str, type | tuple[type, ...]]) -> None:
    """An object with exactly these fields of these types."""
    assert isinstance(value, dict)
    assert set(value) == set(expected)
    for name, kind in expected.items():
        assert isinstance(value[name], kind), f"{name} is {value[name]!r}"


def data(answer: httpx.Response, status: int = 200) -> Any:
    """The JSON of a success, compact and with its newline."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == JSON_TYPE
    assert answer.text.endswith("\n")
    assert "\t" not in answer.text
    return answer.json()


def challenge(server: Server, answer: httpx.Response, description: str) -> None:
    """A 401 says how to sign in, and what is wrong with the token."""
    metadata = f"{server.url}/.well-known/oauth-protected-resource"
    expected = (
        f'Bearer realm="coder", error="invalid_token", error_description="{description}", '
        f'resource_metadata="{metadata}"'
    )
    assert answer.headers.get("www-authenticate") == (expected if server.has(CHALLENGE) else None)
