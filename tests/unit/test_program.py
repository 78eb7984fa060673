"""coder_stack.program: what it changes about a run of Pulumi."""

import sys
import traceback

import pytest

from coder_stack.program import short_call_stacks


def deep(calls: int) -> int:
    return deep(calls - 1) if calls else len(traceback.extract_stack())


def test_call_stacks_are_short_within_the_block_only() -> None:
    whole = deep(30)
    with short_call_stacks():
        assert deep(30) < 10
    assert deep(30) == whole


def test_an_error_is_shown_whole() -> None:
    def fail() -> None:
        with short_call_stacks():
            raise ValueError("shown")

    with pytest.raises(ValueError, match="shown") as failed:
        fail()
    assert not hasattr(sys, "tracebacklimit")
    assert "in fail" in "".join(traceback.format_exception(failed.value))
