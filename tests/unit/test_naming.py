"""Names that Kubernetes takes, and long ones that are made to fit (P2)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_stack.naming import LABEL, MAX_LABEL, fit


def is_label(name: str) -> bool:
    return len(name) <= MAX_LABEL and re.fullmatch(LABEL, name) is not None


labels = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,200}[a-z0-9])?", fullmatch=True)


@pytest.mark.parametrize("name", ["a", "coder", "c0-der", "a" * 63])
def test_a_label_is_accepted(name: str) -> None:
    assert is_label(name)


@pytest.mark.parametrize("name", ["", "-a", "a-", "Coder", "a.b", "a_b", "a" * 64, "a\n", "ü"])
def test_what_is_no_label_is_refused(name: str) -> None:
    assert not is_label(name)


@given(labels)
def test_P2_a_fitted_name_is_a_label_and_stays_what_it_is_when_fitted_again(name: str) -> None:
    fitted = fit(name)
    assert is_label(fitted)
    assert fit(fitted) == fitted


@given(labels)
def test_P2_a_short_name_is_left_alone(name: str) -> None:
    assert (fit(name) == name) == (len(name) <= MAX_LABEL)


def test_P2_long_names_that_differ_at_the_end_stay_different() -> None:
    assert fit("x" * 80 + "a") != fit("x" * 80 + "b")
