"""The pack's own constants agree with the program."""

import pytest

from access_rules import needs_https
from coder_stack.coderd.connection import Connection


@pytest.mark.parametrize(
    "url",
    [
        "https://coder.example.com",
        "http://coder.example.com",
        "http://localhost:3000",
        "http://x.localhost",
        "http://127.0.0.1:3000",
        "http://127.9.9.9",
        "http://[::1]:3000",
        "http://[::ffff:127.0.0.1]",
        "http://10.0.0.1",
        "http://localhost.example.com",
    ],
)
def test_CP8_https_is_needed_where_the_program_says_so(url: str) -> None:
    assert needs_https(url) == (not Connection(base_url=url).may_carry_secrets)


@pytest.mark.parametrize(
    ("url", "needed"),
    [
        ("http://coder.coder.svc.cluster.local:80", False),
        ("http://coder.coder.svc", False),
        ("http://coder.coder.svc.example.com", True),
        ("http://svc.example.com", True),
        ("http://coder", True),
        ("http://[broken", True),
    ],
)
def test_CP8_plain_http_may_stay_inside_the_cluster(url: str, needed: bool) -> None:
    assert needs_https(url) == needed
