"""Looks at a silent coderd share one short wait; deletes hurry once one has waited in vain."""

from dataclasses import replace

import pytest
from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import CoderdError, NotFound, RateLimited, Unavailable
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.outage import BUDGET_SECONDS, COOLDOWN_SECONDS, OutageBudget
from coder_stack.dynamic.runtime.session import ConnectionProps, Session, Sessions

HERE = ConnectionProps(url="http://127.0.0.1:1")


class Time:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def link(connections: Sessions) -> Session:
    return connections.open(HERE, StackConfig(), {})


def total(coderd: Coderd) -> float:
    return coderd.connection.deadlines.total


def fails(error: CoderdError | Failed) -> None:
    raise error


def test_looks_that_get_no_answer_share_one_budget() -> None:
    time = Time()
    budget = OutageBudget(time)
    assert budget.seconds_left() == BUDGET_SECONDS
    time.now += 3
    assert budget.seconds_left() == BUDGET_SECONDS - 3, "one that starts later ends with the first"
    time.now += BUDGET_SECONDS - 3
    assert budget.seconds_left() <= 0, "and after that nobody looks"


def test_after_a_rest_somebody_may_look_again() -> None:
    time = Time()
    budget = OutageBudget(time)
    budget.seconds_left()
    time.now += BUDGET_SECONDS + COOLDOWN_SECONDS
    assert budget.seconds_left() == BUDGET_SECONDS


def test_an_answer_renews_the_budget_at_once() -> None:
    time = Time()
    budget = OutageBudget(time)
    budget.seconds_left()
    time.now += BUDGET_SECONDS
    budget.reset()
    assert budget.seconds_left() == BUDGET_SECONDS


def test_a_look_is_short_and_has_the_token() -> None:
    with_token = link(Sessions()).with_token(SecretStr("a-token"))
    seen = with_token.peek(lambda coderd: coderd.connection)
    assert 0 < seen.deadlines.total <= BUDGET_SECONDS
    assert seen.token == SecretStr("a-token")


def test_a_refusal_is_an_answer() -> None:
    time = Time()
    here = link(Sessions())
    here = replace(here, shared=replace(here.shared, outage=OutageBudget(time)))
    with pytest.raises(NotFound):
        here.peek(lambda _: fails(NotFound("look", "no.")))
    time.now += BUDGET_SECONDS
    assert here.peek(lambda _: "asked") == "asked"


def test_silence_is_told_to_those_who_come_after() -> None:
    time = Time()
    here = link(Sessions())
    here = replace(here, shared=replace(here.shared, outage=OutageBudget(time)))
    with pytest.raises(Unavailable):
        here.peek(lambda _: fails(Unavailable("look", "nobody.")))
    time.now += BUDGET_SECONDS
    with pytest.raises(Unavailable, match="did not answer a moment ago"):
        here.peek(lambda _: "asked")


@pytest.mark.parametrize("wrapped", [False, True])
def test_K6_one_delete_without_an_answer_makes_the_others_hurry(wrapped: bool) -> None:
    connections = Sessions()
    silence = Unavailable("delete", "nobody answers.")
    shown = Failed("Unavailable", "license 7", "delete", "nobody answers.")
    shown.__cause__ = silence
    with link(connections).deleting() as unhurried:
        assert total(unhurried.coderd) == total(link(connections).coderd)
    with pytest.raises((Unavailable, Failed)), link(connections).deleting():
        fails(shown if wrapped else silence)
    with link(connections).deleting() as hurried:
        assert total(hurried.coderd) <= BUDGET_SECONDS
    assert total(link(connections).coderd) > BUDGET_SECONDS, "other operations keep their deadline"


@pytest.mark.parametrize("error", [NotFound("delete", "no."), RateLimited("delete", "later.")])
def test_K6_an_answer_makes_nobody_hurry(error: CoderdError) -> None:
    connections = Sessions()
    with pytest.raises(CoderdError), link(connections).deleting():
        fails(error)
    with link(connections).deleting() as unhurried:
        assert total(unhurried.coderd) > BUDGET_SECONDS
