"""Turns a call into an answer: checks, then attempts until one ends well or the deadline is near.

What every group of endpoints stands on. Leaves judging to answers.py, waiting to retry.py, sockets
to exchange.py.
"""

from typing import TypeVar

from pydantic import JsonValue, SecretStr, TypeAdapter

from coder_stack.coderd.answers import error_in, parsed
from coder_stack.coderd.call import Call
from coder_stack.coderd.connection import Connection
from coder_stack.coderd.errors import InsecureConnection, ProtocolError, Unauthenticated
from coder_stack.coderd.exchange import Answer, Exchange, Failure
from coder_stack.coderd.retry import Clock, Deadline, with_retries

__all__ = ["Caller"]

T = TypeVar("T")
_ANY_JSON = TypeAdapter[JsonValue](JsonValue)


class Caller:
    """One coderd, one token, and the means to ask."""

    def __init__(self, connection: Connection, exchange: Exchange, clock: Clock) -> None:
        self.connection = connection
        self._exchange = exchange
        self._clock = clock

    def _ask(self, call: Call, shape: TypeAdapter[T]) -> T:
        """The answer as a model."""
        return self._parse(call, self._answer(call), shape)

    def _done(self, call: Call) -> None:
        """For calls whose answer is its status alone: a web page is still none."""
        answer = self._answer(call)
        if answer.body.strip():
            self._parse(call, answer, _ANY_JSON)

    def _parse(self, call: Call, answer: Answer, shape: TypeAdapter[T]) -> T:
        result = parsed(call, answer, shape)
        if isinstance(result, ProtocolError):
            raise result
        return result

    def _answer(self, call: Call) -> Answer:
        """The answer as it came."""
        token = self.connection.token
        self._check(call, token)
        deadline = Deadline(self._clock, self.connection.deadlines.total)

        def attempt() -> Answer:
            outcome = self._exchange.send(call, token, deadline)
            error = error_in(call, outcome, self.connection.base_url, self._clock.now())
            if error is not None:
                raise error
            assert not isinstance(outcome, Failure), "every failure is an error"  # noqa: S101
            return outcome

        return with_retries(call, attempt, deadline, self._clock)

    def _check(self, call: Call, token: SecretStr | None) -> None:
        """What can be refused without asking is refused before anything is sent."""
        if call.auth == "token" and token is None:
            why = "there is no session token; give one, or let the first user be created."
            raise Unauthenticated(call.operation, why, credential="session token")
        secret = call.carries_secret(has_token=token is not None)
        if secret and not self.connection.may_carry_secrets:
            why = (
                "a secret would go over plain http to another machine; use https, the API server's "
                "service proxy, or set allow_insecure."
            )
            raise InsecureConnection(call.operation, why)
