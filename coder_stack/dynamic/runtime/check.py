"""What `check` is given and what it answers: inputs that may be unknown, and no token.

base.py calls it; what is right or wrong about the inputs of one object, its provider says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pulumi
from pulumi import dynamic
from pydantic import ValidationError

from coder_stack.coderd import Coderd, CoderdError
from coder_stack.dynamic.runtime.props import (
    Known,
    Problem,
    Props,
    PropsModel,
    field_to_props,
    parse,
)
from coder_stack.dynamic.runtime.session import CoderdInputs, ConnectionProps, Session

__all__ = [
    "CheckRequest",
    "checked",
    "earlier_inputs",
    "filled",
    "known_connection",
    "with_live_deployment",
]

I = TypeVar("I", bound=CoderdInputs)  # noqa: E741  # as in base.py
M = TypeVar("M", bound=PropsModel)


@dataclass(frozen=True)
class CheckRequest(Generic[I]):
    """What `check` was given, as far as it is known."""

    known: Known
    whole: I | None
    """None while anything is unknown."""
    old: I | None
    """What was checked last; None on create and on replace."""


def checked(inputs: Props, problems: list[Problem]) -> dynamic.CheckResult:
    """The answer of `check`, in which a token never stands."""
    failures = [dynamic.CheckFailure(path, message) for path, message in problems]
    return dynamic.CheckResult({k: v for k, v in inputs.items() if k != "token"}, failures)


def filled(model: type[PropsModel], news: Props, values: Mapping[str, Any]) -> Props:
    """The inputs to answer: what is known or was found out, and the rest as it came."""
    inputs: Props = {}
    for name in model.model_fields:
        value = news.get(name)
        if name in values:
            value = field_to_props(model, name, values[name])
        if value is not None:
            inputs[name] = value
    return inputs


def earlier_inputs(model: type[M], bag: Props) -> M | None:
    """Inputs of an earlier run, if there are any that this version can read."""
    try:
        return parse(model, bag) if bag else None
    except ValidationError:
        return None


def known_connection(news: Props) -> ConnectionProps | None:
    """The way to coderd, once nothing in it is unknown or wrong."""
    given = news.get("connection")
    if given is None or pulumi.contains_unknowns(given):
        return None
    try:
        return ConnectionProps.model_validate(given)
    except ValidationError:
        return None


def with_live_deployment(news: Props, session: Session) -> Props:
    """The deployment's id from coderd itself, while Pulumi cannot know it.

    It is unknown in every preview that updates operator access; without this, the renewal of a
    token would look like a change of everything that is told the id (CP6).
    """
    if not pulumi.contains_unknowns(news.get("deployment_id")):
        return news
    try:
        build = session.listed("build", lambda _: session.look(Coderd.build_info))
    except CoderdError:
        return news
    return {**news, "deployment_id": str(build.deployment_id)}
