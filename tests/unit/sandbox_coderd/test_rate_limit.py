"""The sliding minute of the rate limiter, on a clock that the test moves."""

from datetime import UTC, datetime, timedelta

from sandbox.coderd.rules.rate_limit import RateLimiter

MINUTE = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)


def passed(limiter: RateLimiter, now: datetime, times: int, path: str = "/a") -> int:
    return sum(limiter.check("127.0.0.1", path, 10, now).allowed for _ in range(times))


def test_within_a_minute_only_the_limit_passes() -> None:
    limiter = RateLimiter()
    assert passed(limiter, MINUTE, 15) == 10
    assert passed(limiter, MINUTE + timedelta(seconds=59), 5) == 0


def test_another_path_or_client_has_its_own_count() -> None:
    limiter = RateLimiter()
    assert passed(limiter, MINUTE, 10) == 10
    assert passed(limiter, MINUTE, 1, "/b") == 1
    assert limiter.check("127.0.0.2", "/a", 10, MINUTE).allowed


def test_the_last_minute_fades_while_the_next_one_passes() -> None:
    limiter = RateLimiter()
    passed(limiter, MINUTE, 10)
    assert passed(limiter, MINUTE + timedelta(seconds=60), 5) == 0
    assert passed(limiter, MINUTE + timedelta(seconds=90), 10) == 5
    assert passed(limiter, MINUTE + timedelta(seconds=180), 10) == 10


def test_the_headers_say_what_is_left_and_until_when() -> None:
    limiter = RateLimiter()
    verdict = limiter.check("127.0.0.1", "/a", 10, MINUTE + timedelta(seconds=5))
    reset = int((MINUTE + timedelta(seconds=60)).timestamp())
    assert dict(verdict.headers()) == {
        "X-RateLimit-Limit": "10",
        "X-RateLimit-Remaining": "9",
        "X-RateLimit-Reset": str(reset),
    }
