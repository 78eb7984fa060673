"""Reads of a coderd that does not answer share a budget; one failed delete shortens the others."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import CoderdError, NotFound, RateLimited, Unavailable
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.outage import BUDGET_SECONDS, COOLDOWN_SECONDS, OutageBudget
from coder_stack.dynamic.runtime.session import ConnectionProps, Session, Sessions


class FakeClock:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def budget(clock: FakeClock) -> OutageBudget:
    return OutageBudget(clock)


@pytest.fixture
def session(budget: OutageBudget) -> Session:
    connection = ConnectionProps(url="http://127.0.0.1:1")
    opened = Sessions().open(connection, StackConfig(), {})
    return replace(opened, shared=replace(opened.shared, outage=budget))


def total(coderd: Coderd) -> float:
    return coderd.connection.deadlines.total


def failing(error: Exception) -> Callable[[Coderd], None]:
    def fail(_: Coderd) -> None:
        raise error

    return fail


def test_reads_without_an_answer_share_one_budget(clock: FakeClock, budget: OutageBudget) -> None:
    assert budget.seconds_left() == BUDGET_SECONDS
    clock.now += 3
    assert budget.seconds_left() == BUDGET_SECONDS - 3, "the second read ends with the first"
    clock.now += BUDGET_SECONDS - 3
    assert budget.seconds_left() <= 0
    clock.now += COOLDOWN_SECONDS
    assert budget.seconds_left() == BUDGET_SECONDS, "after the cooldown"


def test_an_answer_resets_the_budget(clock: FakeClock, budget: OutageBudget) -> None:
    budget.seconds_left()
    clock.now += BUDGET_SECONDS
    budget.reset()
    assert budget.seconds_left() == BUDGET_SECONDS


def test_a_peek_has_a_short_deadline_and_the_token(session: Session) -> None:
    seen = session.with_token(SecretStr("a-token")).peek(lambda coderd: coderd.connection)
    assert 0 < seen.deadlines.total <= BUDGET_SECONDS
    assert seen.token == SecretStr("a-token")


def test_a_refusal_is_an_answer(clock: FakeClock, session: Session) -> None:
    with pytest.raises(NotFound):
        session.peek(failing(NotFound("look", "no.")))
    clock.now += BUDGET_SECONDS
    assert session.peek(lambda _: "asked") == "asked"


def test_a_peek_fails_at_once_while_the_budget_is_spent(clock: FakeClock, session: Session) -> None:
    with pytest.raises(Unavailable):
        session.peek(failing(Unavailable("look", "nobody.")))
    clock.now += BUDGET_SECONDS
    with pytest.raises(Unavailable, match="did not answer a moment ago"):
        session.peek(lambda _: "asked")


@pytest.mark.parametrize("wrapped", [False, True])
def test_K6_after_a_delete_without_an_answer_the_others_are_short(
    session: Session, wrapped: bool
) -> None:
    no_answer = Unavailable("delete", "nobody answers.")
    failed = Failed("Unavailable", "license 7", "delete", "nobody answers.")
    failed.__cause__ = no_answer
    with session.deleting() as first:
        assert total(first.coderd) == total(session.coderd)
    with pytest.raises((Unavailable, Failed)), session.deleting():
        raise failed if wrapped else no_answer
    with session.deleting() as later:
        assert total(later.coderd) <= BUDGET_SECONDS
    assert total(session.coderd) > BUDGET_SECONDS, "other operations have their usual deadline"


@pytest.mark.parametrize("error", [NotFound("delete", "no."), RateLimited("delete", "later.")])
def test_K6_after_an_answer_the_other_deletes_are_not_short(
    session: Session, error: CoderdError
) -> None:
    with pytest.raises(CoderdError), session.deleting():
        raise error
    with session.deleting() as later:
        assert total(later.coderd) > BUDGET_SECONDS
