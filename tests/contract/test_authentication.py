"""coder-api.md section 1: where a token is taken from, what a bad one gets, the cookie trap."""

from datetime import UTC, datetime, timedelta

import pytest

from sandbox.coderd.rules.versions import BEARER
from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]

UNKNOWN = "aaaaaaaaaa-bbbbbbbbbbbbbbbbbbbbbb"


@pytest.mark.parametrize(
    ("token", "detail"),
    [
        (None, 'Cookie "coder_session_token" or query parameter must be provided.'),
        ("", 'Cookie "coder_session_token" or query parameter must be provided.'),
        ("x", "Invalid API key format: incorrect amount of API key parts, expected 2 got 1"),
        ("a-b-c", "Invalid API key format: incorrect amount of API key parts, expected 2 got 3"),
        ("x-y", "Invalid API key format: invalid API key ID length, expected 10 got 1"),
        (
            "0123456789-x",
            "Invalid API key format: invalid API key secret length, expected 22 got 1",
        ),
        (UNKNOWN, "API key is invalid."),
    ],
)
@pytest.mark.parametrize("path", ["/users/me", "/organizations"])
def test_401_tells_what_is_wrong_with_the_token(
    server: Server, path: str, token: str | None, detail: str
) -> None:
    answer = server.api("GET", path, token)
    expect.refusal(answer, 401, expect.SIGNED_OUT, detail)
    # Every message speaks of an expired session, so the description does too.
    expect.challenge(server, answer, "The access token has expired")


def test_a_known_id_with_a_wrong_secret_is_told_apart(server: Server) -> None:
    token = f"{server.member_token.split('-')[0]}-{'b' * 22}"
    answer = server.api("GET", "/users/me", token)
    expect.refusal(answer, 401, expect.SIGNED_OUT, "API key secret is invalid.")


def test_an_expired_token_says_when(server: Server) -> None:
    key_id, token = server.new_token(lifetime=int(3600e9))
    with server.later(key_id, 3700):
        body = expect.refusal(server.api("GET", "/users/me", token), 401, expect.SIGNED_OUT)
    assert body["detail"].startswith('API key expired at "20')
    assert body["detail"].endswith('UTC".') or "+0000" in body["detail"]


def test_use_extends_a_token_once_an_hour_of_it_is_gone(server: Server) -> None:
    """Sliding expiry: `expires_at` of a token that is used drifts, so it is no sign of change."""
    key_id, token = server.new_token(lifetime=int(3 * 3600e9))
    created = _expiry(server, token, key_id)
    with server.later(key_id, 2 * 3600):
        assert server.api("GET", "/users/me", token).status_code == 200
        moved = _expiry(server, token, key_id)
        if server.simulated:
            assert moved - created > timedelta(hours=1, minutes=59)
        else:
            # Its row was made older instead: use has brought the full lifetime back.
            assert abs(moved - created) < timedelta(minutes=5)


def test_use_does_not_extend_a_token_within_the_first_hour(server: Server) -> None:
    key_id, token = server.new_token(lifetime=int(3 * 3600e9))
    first = _expiry(server, token, key_id)
    assert _expiry(server, token, key_id) == first


def _expiry(server: Server, token: str, key_id: str) -> datetime:
    shown = server.api("GET", f"/users/me/keys/{key_id}", token).json()["expires_at"]
    return datetime.fromisoformat(shown).astimezone(UTC)


NEW_WAYS = ("bearer", "bearer in capitals", "access_token query")


@pytest.mark.parametrize("way", ["header", "cookie", "query", *NEW_WAYS])
def test_a_token_may_come_in_several_ways(server: Server, way: str) -> None:
    token = server.member_token
    headers = {
        "header": {"Coder-Session-Token": token},
        "bearer": {"Authorization": f"Bearer {token}"},
        "bearer in capitals": {"Authorization": f"BEARER {token}"},
        "cookie": {"Cookie": f"coder_session_token={token}"},
    }.get(way, {})
    name = {"query": "coder_session_token", "access_token query": "access_token"}.get(way)
    answer = server.api("GET", "/users/me", headers=headers, params={name: token} if name else None)
    if way in NEW_WAYS and not server.has(BEARER):
        expect.refusal(answer, 401, expect.SIGNED_OUT)
        return
    assert expect.data(answer)["username"] == "member"


def test_the_cookie_beats_the_header(server: Server) -> None:
    """The trap: a client that keeps the login's cookie goes on as the one who logged in."""
    cookie = {"Cookie": f"coder_session_token={server.member_token}"}
    answer = server.owner("GET", "/users/me", headers=cookie)
    assert expect.data(answer)["username"] == "member"


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ({"params": {"coder_session_token": "MEMBER"}}, {"Coder-Session-Token": "OWNER"}),
        ({"headers": {"Coder-Session-Token": "MEMBER"}}, {"Authorization": "Bearer OWNER"}),
    ],
)
def test_the_query_beats_the_header_and_the_header_beats_bearer(
    server: Server, stronger: dict[str, dict[str, str]], weaker: dict[str, str]
) -> None:
    def filled(given: dict[str, str]) -> dict[str, str]:
        tokens = {"MEMBER": server.member_token, "OWNER": server.owner_token}
        for word, token in tokens.items():
            given = {name: value.replace(word, token) for name, value in given.items()}
        return given

    headers = filled(weaker) | filled(stronger.get("headers", {}))
    params = filled(stronger.get("params", {}))
    answer = server.api("GET", "/users/me", headers=headers, params=params)
    assert expect.data(answer)["username"] == "member"


def test_an_unsafe_method_with_cookie_and_another_header_is_a_csrf_400_in_plain_text(
    server: Server,
) -> None:
    cookie = {"Cookie": f"coder_session_token={server.member_token}"}
    answer = server.owner("POST", "/users/me/keys/tokens", headers=cookie, json={})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith(
        'CSRF error encountered. Authentication via "coder_session_token" cookie and '
        '"Coder-Session-Token" header detected, but the values do not match.'
    )


def test_an_unsafe_method_with_the_cookie_alone_is_a_csrf_400(server: Server) -> None:
    cookie = {"Cookie": f"coder_session_token={server.member_token}"}
    answer = server.api("POST", "/users/me/keys/tokens", headers=cookie, json={})
    assert answer.status_code == 400
    assert answer.text.startswith("Something is wrong with your CSRF token.")


@pytest.mark.parametrize("way", ["same header", "bearer", "same query"])
def test_csrf_lets_pass_what_no_browser_sends_by_itself(server: Server, way: str) -> None:
    token = server.member_token
    headers = {"Cookie": f"coder_session_token={token}"}
    headers |= {
        "same header": {"Coder-Session-Token": token},
        "bearer": {"Authorization": "Bearer x"},
    }.get(way, {})
    params = {"coder_session_token": token} if way == "same query" else None
    answer = server.api("POST", "/users/me/keys/tokens", headers=headers, params=params, json={})
    accepted = way != "bearer" or server.has(BEARER)
    assert answer.status_code == (201 if accepted else 400)


def test_csrf_does_not_hold_for_the_first_user(server: Server) -> None:
    cookie = {"Cookie": f"coder_session_token={server.member_token}"}
    answer = server.api("POST", "/users/first", headers=cookie, json={})
    expect.validation(answer, email="required", username="required", password="required")
