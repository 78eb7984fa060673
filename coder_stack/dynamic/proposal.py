"""What `check` is given and what it answers: inputs that may be unknown, and no token.

Pure. base.py calls it; what is right or wrong about the inputs of one object, its provider says.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from pulumi import dynamic
from pydantic import SecretStr, ValidationError

from coder_stack.dynamic.connection import CoderdInputs
from coder_stack.dynamic.wire import Known, Problem, Props, parse

__all__ = ["Proposal", "checked", "earlier_inputs", "given_token"]

I = TypeVar("I", bound=CoderdInputs)  # noqa: E741  # as in base.py


@dataclass(frozen=True)
class Proposal(Generic[I]):
    """What `check` was given, as far as it is known."""

    known: Known
    whole: I | None
    """None while anything is unknown."""
    old: I | None
    """What was checked last; None on create and on replace."""
    token: object = None
    """The token that the program gave: a SecretStr, an Unknown, or None. Never store it."""


def checked(inputs: Props, problems: list[Problem]) -> dynamic.CheckResult:
    """The answer of `check`, in which a token never stands."""
    failures = [dynamic.CheckFailure(path, message) for path, message in problems]
    return dynamic.CheckResult({k: v for k, v in inputs.items() if k != "token"}, failures)


def given_token(given: object) -> object:
    """The program's token: a SecretStr, an Unknown, or None."""
    return SecretStr(given) if isinstance(given, str) and given else given or None


def earlier_inputs(model: type[I], bag: Props) -> I | None:
    """Inputs of an earlier run, if there are any that this version can read."""
    try:
        return parse(model, bag) if bag else None
    except ValidationError:
        return None
