"""What coderd says about a proxy becomes an output: short, stable, without secrets (W2)."""

import pytest

from coder_stack.coderd.own_words import LONGEST, own_words

UNREACHABLE = (
    'request to proxy failed: Get "https://sydney.example.com/healthz-report": dial tcp: lookup '
    "sydney.example.com on 10.96.0.10:53: no such host"
)


def test_W2_the_words_stay_as_coderd_wrote_them() -> None:
    assert own_words([UNREACHABLE]) == UNREACHABLE


def test_W2_several_errors_are_one_line() -> None:
    assert own_words(["one\n  two", "three\x1b[31m"]) == "one two; three?[31m"


def test_W2_nothing_said_is_nothing() -> None:
    assert own_words([]) == ""


def test_W2_the_same_cause_has_the_same_words_at_every_check() -> None:
    """Else every refresh would change an output of the stack."""
    first, second = (
        f"read udp 10.244.0.5:{port}->10.96.0.10:53: i/o timeout" for port in (43712, 51200)
    )
    assert own_words([first]) == own_words([second])
    assert "10.96.0.10:53: i/o timeout" in own_words([first])


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('Get "https://ops:hush-hush@sydney.example.com/": EOF', "hush-hush"),
        (f"bad token 1c1f3b2e-0a55-4a0e-8a68-000000000001:{'k3y' * 22}", "k3yk3y"),
        (f"bad license {'eyJhbGciOiJFZERTQSJ9' * 3}.x.y", "eyJhbGci"),
    ],
)
def test_W2_no_secret_is_repeated(text: str, secret: str) -> None:
    assert secret not in own_words([text])


def test_W2_a_long_text_is_cut() -> None:
    found = own_words(["a word " * 200])
    assert len(found) == LONGEST
    assert found.endswith("…")
