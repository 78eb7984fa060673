"""The base of all endpoints: check a request, send it with retries, and parse the response."""

from typing import TypeVar

from pydantic import JsonValue, SecretStr, TypeAdapter

from coder_stack.coderd.connection import Connection, TokenSource, checked_token
from coder_stack.coderd.errors import InsecureConnection, ProtocolError, Unauthenticated
from coder_stack.coderd.interpret import error_of, parse
from coder_stack.coderd.request import Request
from coder_stack.coderd.retry import Clock, Deadline, with_retries
from coder_stack.coderd.transport import Failure, HttpClient, Response

T = TypeVar("T")
_ANY_JSON = TypeAdapter[JsonValue](JsonValue)


class Endpoints:
    """A connection to one coderd as one user."""

    def __init__(self, connection: Connection, http: HttpClient, clock: Clock) -> None:
        self.connection = connection
        self.token_source: TokenSource | None = None
        """Where requests find a token if the connection has none."""
        self._http = http
        self._clock = clock

    def _ask(self, request: Request, shape: TypeAdapter[T]) -> T:
        """Return the response as a model."""
        return self._parse(request, self._response(request), shape)

    def _done(self, request: Request) -> None:
        """Send a request that returns nothing; a web page is still an error."""
        response = self._response(request)
        if response.body.strip():
            self._parse(request, response, _ANY_JSON)

    def _parse(self, request: Request, response: Response, shape: TypeAdapter[T]) -> T:
        result = parse(request, response, shape)
        if isinstance(result, ProtocolError):
            raise result
        return result

    def _response(self, request: Request) -> Response:
        """Return the raw response; replace a refused token once, if the source has another."""
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
        if request.carries_secret and not self.connection.may_carry_secrets:
            why = (
                "a secret would go over plain http to another machine; use https, the API server's "
                "service proxy, or set allow_insecure."
            )
            raise InsecureConnection(request.operation, why)
