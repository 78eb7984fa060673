"""Pulumi's `check`: inputs that may still be unknown become canonical inputs and problems.

What is right or wrong about the inputs of one object, its resource file says in `examine`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pulumi
from pulumi import dynamic
from pydantic import ValidationError

from coder_stack.coderd.errors import CoderdError
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.props import (
    Known,
    Problem,
    Props,
    PropsModel,
    field_to_props,
    parse,
    read_known,
)
from coder_stack.dynamic.runtime.session import SESSIONS, CoderdInputs, ConnectionProps, Session

I = TypeVar("I", bound=CoderdInputs)  # noqa: E741  # as in provider.py
M = TypeVar("M", bound=PropsModel)


@dataclass(frozen=True)
class CheckRequest(Generic[I]):
    """What `check` was given, as far as it is known."""

    known: Known
    whole: I | None
    """None while anything is unknown."""
    old: I | None
    """The inputs of the last run; None on create and on replace."""
    extra: Props
    """What the program gave beside the inputs: secrets that no state keeps."""


Examine = Callable[[CheckRequest[Any], Session | None], tuple[Mapping[str, Any], list[Problem]]]


def check(
    model: type[CoderdInputs], examine: Examine, olds: Props, news: Props, config: StackConfig
) -> dynamic.CheckResult:
    """Parse the inputs, let `examine` add live facts, and answer with both."""
    session, problems = _session(known_connection(news), config)
    if session is not None and "deployment_id" in model.model_fields:
        news = _with_live_deployment(news, session)
    known, whole, wrong = read_known(model, news)
    extra = {name: value for name, value in news.items() if name not in model.model_fields}
    if problems or wrong:
        return checked(filled(model, news, {}), [*problems, *wrong])
    request = CheckRequest(known, whole, earlier_inputs(model, olds), extra)
    values, problems = examine(request, session)
    return checked(filled(model, news, {**known, **values}), problems)


def checked(inputs: Props, problems: list[Problem]) -> dynamic.CheckResult:
    """Build the answer of `check`, which never holds a token."""
    failures = [dynamic.CheckFailure(path, message) for path, message in problems]
    return dynamic.CheckResult({k: v for k, v in inputs.items() if k != "token"}, failures)


def filled(model: type[PropsModel], news: Props, values: Mapping[str, Any]) -> Props:
    """Return the inputs to answer with: what is known or was found out, the rest as it came."""
    inputs: Props = {}
    for name in model.model_fields:
        value = news.get(name)
        if name in values:
            found = values[name]
            value = None if found is None else field_to_props(model, name, found)
        if value is not None:
            inputs[name] = value
    return inputs


def earlier_inputs(model: type[M], props: Props) -> M | None:
    """Parse the inputs of an earlier run, if there are any that this version can read."""
    try:
        return parse(model, props) if props else None
    except ValidationError:
        return None


def known_connection(news: Props) -> ConnectionProps | None:
    """Return the connection, once nothing in it is unknown or wrong."""
    given = news.get("connection")
    if given is None or pulumi.contains_unknowns(given):
        return None
    try:
        return ConnectionProps.model_validate(given)
    except ValidationError:
        return None


def _session(
    connection: ConnectionProps | None, config: StackConfig
) -> tuple[Session | None, list[Problem]]:
    if connection is None:
        return None, []
    try:
        session = SESSIONS.open(connection, config, {})
        session.refuse_if_insecure()
    except CoderdError as error:
        return None, [Problem("connection", f"{error.reason}: {error}")]
    return session, []


def _with_live_deployment(news: Props, session: Session) -> Props:
    """Ask coderd for the deployment's id while Pulumi cannot know it.

    It is unknown in every preview that updates operator access; without this, the renewal of a
    token would look like a change of everything that is given the id (CP6).
    """
    if not pulumi.contains_unknowns(news.get("deployment_id")):
        return news
    try:
        build = session.peek_cached(answers.BUILD)
    except CoderdError:
        return news
    return {**news, "deployment_id": str(build.deployment_id)}
