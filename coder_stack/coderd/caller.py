"""Turns a call into an answer: checks, then attempts until one ends well or the deadline is near.

What every group of endpoints stands on. Leaves judging to answers.py, waiting to retry.py, sockets
to exchange.py.
"""

from typing import TypeVar

from pydantic import JsonValue, SecretStr, TypeAdapter

from coder_stack.coderd.answers import error_in, parsed
from coder_stack.coderd.call import Call
from coder_stack.coderd.connection import Connection, TokenSource, checked_token
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
        self.token_source: TokenSource | None = None
        """Asked for a token by calls that need one, unless the connection has its own."""
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
        """The answer as it came. A refused token is replaced once, if its source has another."""
        if call.auth != "token":
            return self._attempts(call, None)
        token = self._token(call)
        try:
            return self._attempts(call, token)
        except Unauthenticated:
            other = self.token_source.after_refusal(token) if self.token_source else None
            if other is None:
                raise
            return self._attempts(call, checked_token(other))

    def _token(self, call: Call) -> SecretStr:
        if self.connection.token is not None:
            return self.connection.token
        if self.token_source is not None:
            return checked_token(self.token_source.token())
        why = "there is no session token; give one, or let the first user be created."
        raise Unauthenticated(call.operation, why, credential="session token")

    def _attempts(self, call: Call, token: SecretStr | None) -> Answer:
        self._refuse_if_insecure(call)
        deadline = Deadline(self._clock, self.connection.deadlines.total)

        def attempt() -> Answer:
            outcome = self._exchange.send(call, token, deadline)
            error = error_in(call, outcome, self.connection.base_url, self._clock.now())
            if error is not None:
                raise error
            assert not isinstance(outcome, Failure), "every failure is an error"  # noqa: S101
            return outcome

        return with_retries(call, attempt, deadline, self._clock)

    def _refuse_if_insecure(self, call: Call) -> None:
        """What can be refused without asking is refused before anything is sent."""
        if call.carries_secret and not self.connection.may_carry_secrets:
            why = (
                "a secret would go over plain http to another machine; use https, the API server's "
                "service proxy, or set allow_insecure."
            )
            raise InsecureConnection(call.operation, why)
