"""First user, login and tokens (CP6)."""

from collections.abc import Sequence
from datetime import timedelta

from pydantic import SecretStr, TypeAdapter

from coder_stack.coderd.endpoints.base import Endpoints
from coder_stack.coderd.errors import NotFound
from coder_stack.coderd.models import (
    ApiToken,
    FirstUser,
    LoginSession,
    Message,
    NewToken,
    TokenConfig,
    User,
)
from coder_stack.coderd.request import Request, quoted

_FIRST_USER = TypeAdapter(FirstUser)
_SESSION = TypeAdapter(LoginSession)
_USER = TypeAdapter(User)
_NEW_TOKEN = TypeAdapter(NewToken)
_TOKEN = TypeAdapter(ApiToken)
_TOKEN_CONFIG = TypeAdapter(TokenConfig)
_MESSAGE = TypeAdapter(Message)
_FIRST = ("api", "v2", "users", "first")


class AccessEndpoints(Endpoints):
    """First user, login and tokens. `user` is `me`, a name or an id."""

    def has_first_user(self) -> bool:
        """Tell whether coderd has a first user."""
        request = Request(
            operation="ask for the first user", method="GET", path=_FIRST, auth="none"
        )
        try:
            self._ask(request, _MESSAGE)
        except NotFound:
            return False
        return True

    def create_first_user(
        self, *, email: str, username: str, password: SecretStr, name: str = ""
    ) -> FirstUser:
        """Create the owner of a new coderd, without a trial; raise Conflict if there is one."""
        request = Request(
            operation=f"create the first user {quoted(username)}",
            method="POST",
            path=_FIRST,
            success=frozenset({200, 201}),
            auth="none",
            body={"email": email, "username": username, "password": password, "name": name},
        )
        response = self._response(request)
        if response.status == 200 and not response.body.strip():
            # The user exists; coderd then failed to refresh entitlements and wrote no body.
            return FirstUser(user_id=None, organization_id=None)
        return self._parse(request, response, _FIRST_USER)

    def login(self, *, email: str, password: SecretStr) -> LoginSession:
        """Return a short-lived session, with which a token can be created."""
        request = Request(
            operation="log in",
            method="POST",
            path=("api", "v2", "users", "login"),
            success=frozenset({201}),
            auth="none",
            body={"email": email, "password": password},
            # A session whose response is lost ends by itself within a day.
            repeatable=True,
        )
        return self._ask(request, _SESSION)

    def user(self, user: str = "me") -> User:
        """Return the token's own user, or another one."""
        request = Request(
            operation=f"look up user {quoted(user)}",
            method="GET",
            path=("api", "v2", "users", user),
        )
        return self._ask(request, _USER)

    def create_token(
        self,
        name: str,
        *,
        lifetime: timedelta | None = None,
        scopes: Sequence[str] = (),
        user: str = "me",
    ) -> NewToken:
        """Create a named token; licenses, keys and proxies need one without scopes."""
        body: dict[str, object] = {"token_name": name}
        if lifetime is not None:
            body["lifetime"] = lifetime // timedelta(microseconds=1) * 1000  # Go counts nanoseconds
        if scopes:
            body["scopes"] = list(scopes)
        request = Request(
            operation=f"create token {quoted(name)}",
            method="POST",
            path=_tokens(user),
            success=frozenset({201}),
            body=body,
        )
        return self._ask(request, _NEW_TOKEN)

    def token(self, name: str, *, user: str = "me") -> ApiToken:
        """Return the token of that name."""
        request = Request(
            operation=f"look up token {quoted(name)}", method="GET", path=(*_tokens(user), name)
        )
        return self._ask(request, _TOKEN)

    def token_config(self, *, user: str = "me") -> TokenConfig:
        """Return how long a token of the user may live; by default seven days for owners."""
        request = Request(
            operation="read the token settings",
            method="GET",
            path=(*_tokens(user), "tokenconfig"),
        )
        return self._ask(request, _TOKEN_CONFIG)

    def delete_token(self, token_id: str, *, user: str = "me") -> None:
        """Delete by id, which is not secret; raise NotFound if it is gone."""
        request = Request(
            operation=f"delete token {quoted(token_id)}",
            method="DELETE",
            path=("api", "v2", "users", user, "keys", token_id),
            success=frozenset({204}),
        )
        self._done(request)


def _tokens(user: str) -> tuple[str, ...]:
    return ("api", "v2", "users", user, "keys", "tokens")
