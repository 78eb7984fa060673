"""Turns a call into an answer: checks, then attempts until one ends well or the deadline is near.

What every group of endpoints stands on. Leaves judging to answers.py, waiting to retry.py, sockets
to exchange.py.
"""

from typing import TypeVar

from pydantic import JsonValue, SecretStr, TypeAdapter

from coder_stack.coderd.connection import Connection, TokenSource, checked_token
from coder_stack.coderd.errors import InsecureConnection, ProtocolError, Unauthenticated
from coder_stack.coderd.interpret import error_of, parse
from coder_stack.coderd.request import Request
from coder_stack.coderd.retry import Clock, Deadline, with_retries
from coder_stack.coderd.transport import Failure, HttpClient, Response

__all__ = ["Endpoints"]

T = TypeVar("T")
_ANY_JSON = TypeAdapter[JsonValue](JsonValue)


class Endpoints:
    """One coderd, one token, and the means to ask."""

    def __init__(self, connection: Connection, http: HttpClient, clock: Clock) -> None:
        self.connection = connection
        self.token_source: TokenSource | None = None
        """Asked for a token by calls that need one, unless the connection has its own."""
        self._http = http
        self._clock = clock

    def _ask(self, request: Request, shape: TypeAdapter[T]) -> T:
        """The answer as a model."""
        return self._parse(request, self._response(request), shape)

    def _done(self, request: Request) -> None:
        """For calls whose answer is its status alone: a web page is still none."""
        response = self._response(request)
        if response.body.strip():
            self._parse(request, response, _ANY_JSON)

    def _parse(self, request: Request, response: Response, shape: TypeAdapter[T]) -> T:
        result = parse(request, response, shape)
        if isinstance(result, ProtocolError):
            raise result
        return result

    def _response(self, request: Request) -> Response:
        """The answer as it came. A refused token is replaced once, if its source has another."""
        if request.auth != "token":
            return self._attempts(request, None)
        token = self._token(request)
        try:
            return self._attempts(request, token)
        except Unauthenticated:
            other = self.token_source.after_refusal(token) if self.token_source else None
            if other is None:
                raise
            return self._attempts(request, checked_token(other))

    def _token(self, request: Request) -> SecretStr:
        if self.connection.token is not None:
            return self.connection.token
        if self.token_source is not None:
            return checked_token(self.token_source.token())
        why = "there is no session token; give one, or let the first user be created."
        raise Unauthenticated(request.operation, why, credential="session token")

    def _attempts(self, request: Request, token: SecretStr | None) -> Response:
        self._refuse_if_insecure(request)
        deadline = Deadline(self._clock, self.connection.deadlines.total)

        def attempt() -> Response:
            outcome = self._http.send(request, token, deadline)
            error = error_of(request, outcome, self.connection.base_url, self._clock.now())
            if error is not None:
                raise error
            assert not isinstance(outcome, Failure), "every failure is an error"  # noqa: S101
            return outcome

        return with_retries(request, attempt, deadline, self._clock)

    def _refuse_if_insecure(self, request: Request) -> None:
        """What can be refused without asking is refused before anything is sent."""
        if request.carries_secret and not self.connection.may_carry_secrets:
            why = (
                "a secret would go over plain http to another machine; use https, the API server's "
                "service proxy, or set allow_insecure."
            )
            raise InsecureConnection(request.operation, why)
