"""Names and tags that coderd takes."""

import pytest

from coder_stack.coderd.names import key_name_fault, proxy_name_fault, tags_fault


@pytest.mark.parametrize(
    "name", ["", "x" * 65, "é" * 33, "PSK", "built-in", "User-Auth", "a/b", ".", "..", " a", "a\n"]
)
def test_P2_a_key_name_that_coderd_refuses_or_cannot_delete_has_a_fault(name: str) -> None:
    assert key_name_fault(name) is not None


@pytest.mark.parametrize("name", ["a", "x" * 64, "Fleet EU_1.2", "psk2"])
def test_P2_any_other_key_name_is_fine(name: str) -> None:
    assert key_name_fault(name) is None


@pytest.mark.parametrize("name", ["", "primary", "ME", "a/b", " a", "a\n"])
def test_W1_a_proxy_name_that_coderd_refuses_has_a_fault(name: str) -> None:
    assert proxy_name_fault(name) is not None


def test_W1_any_other_proxy_name_is_fine() -> None:
    assert proxy_name_fault("Sydney 1") is None


def test_tags_that_no_job_can_match_have_a_fault() -> None:
    assert tags_fault({"scope": "user"}) is not None
    assert tags_fault({"scope": "organization", "owner": ""}) is None
