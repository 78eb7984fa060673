"""coder-api.md section 1: rate limits, counted per client address and path before any login."""

import time

import pytest

from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]


def test_the_headers_count_down_from_512_for_one_path(server: Server) -> None:
    # A path that no other test asks for.
    first, second = (server.api("GET", "/rate-limited") for _ in range(2))
    assert first.headers["x-ratelimit-limit"] == "512"
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in (first, second)]
    assert left[1] == left[0] - 1 or left[1] == 511
    ends = int(second.headers["x-ratelimit-reset"])
    assert ends % 60 == 0
    assert abs(ends - time.time()) <= 61
    assert "retry-after" not in first.headers


def test_nothing_is_counted_outside_the_api(server: Server) -> None:
    assert "x-ratelimit-limit" not in server.call("GET", "/healthz").headers


def test_sixty_logins_a_minute_and_no_more(server: Server) -> None:
    """Counted per path before the body is read; two slashes keep the other tests' count alone."""
    path = "/api/v2/users//login"
    for _ in range(200):
        answer = server.call("POST", path, json={})
        if answer.status_code == 429:
            break
        expect.validation(answer, email="required", password="required")
    message = "You've been rate limited for sending more than 60 requests in 1m0s."
    expect.refusal(answer, 429, message)
    assert answer.headers["retry-after"] == "60"
    assert answer.headers["x-ratelimit-limit"] == "60"
    assert answer.headers["x-ratelimit-remaining"] == "0"
    other = server.api("POST", "/users/login", json={})
    expect.validation(other, email="required", password="required")


def test_an_owner_cannot_bypass_the_limit(server: Server) -> None:
    """The limiter stands before authentication, so the header for that has nobody to believe."""
    answer = server.owner("GET", "/buildinfo", headers={"X-Coder-Bypass-Ratelimit": "true"})
    assert "x-ratelimit-remaining" in answer.headers
