"""How the operator gets in: first user, login, tokens (CP6). Cookies play no part in it."""

from collections.abc import Sequence
from datetime import timedelta

from pydantic import SecretStr, TypeAdapter

from coder_stack.coderd.endpoints.base import Endpoints
from coder_stack.coderd.errors import NotFound
from coder_stack.coderd.models import (
    ApiToken,
    FirstUser,
    List,
    LoginSession,
    Message,
    NewToken,
    TokenConfig,
    User,
)
from coder_stack.coderd.request import Request, quoted

__all__ = ["AccessEndpoints"]

_FIRST_USER = TypeAdapter(FirstUser)
_SESSION = TypeAdapter(LoginSession)
_USER = TypeAdapter(User)
_NEW_TOKEN = TypeAdapter(NewToken)
_TOKEN = TypeAdapter(ApiToken)
_TOKENS = TypeAdapter[tuple[ApiToken, ...]](List[ApiToken])
_TOKEN_CONFIG = TypeAdapter(TokenConfig)
_MESSAGE = TypeAdapter(Message)
_FIRST = ("api", "v2", "users", "first")


class AccessEndpoints(Endpoints):
    """First user, login, tokens. `user` is `me`, a name or an id."""

    def has_first_user(self) -> bool:
        """Whether somebody has set this coderd up."""
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
        """The owner of a fresh coderd; Conflict if there is one. Never asks for a trial."""
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
            # The user exists; coderd failed to refresh entitlements afterwards and wrote no answer.
            return FirstUser(user_id=None, organization_id=None)
        return self._parse(request, response, _FIRST_USER)

    def login(self, *, email: str, password: SecretStr) -> LoginSession:
        """A short-lived session, good for making a token."""
        request = Request(
            operation="log in",
            method="POST",
            path=("api", "v2", "users", "login"),
            success=frozenset({201}),
            auth="none",
            body={"email": email, "password": password},
            # A session whose answer was lost ends by itself within a day.
            repeatable=True,
        )
        return self._ask(request, _SESSION)

    def user(self, user: str = "me") -> User:
        """The token's own user, or another one."""
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
        """A named token. Licenses, keys and proxies need one without scopes (all rights)."""
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

    def tokens(self, *, user: str = "me", include_all: bool = False) -> tuple[ApiToken, ...]:
        """Tokens of the user, or of everybody."""
        request = Request(
            operation="list tokens",
            method="GET",
            path=_tokens(user),
            query={"include_all": "true"} if include_all else {},
        )
        return self._ask(request, _TOKENS)

    def token(self, name: str, *, user: str = "me") -> ApiToken:
        """The token of that name."""
        request = Request(
            operation=f"look up token {quoted(name)}", method="GET", path=(*_tokens(user), name)
        )
        return self._ask(request, _TOKEN)

    def token_config(self, *, user: str = "me") -> TokenConfig:
        """How long a token of the user may live; owners are held to seven days by default."""
        request = Request(
            operation="read the token settings",
            method="GET",
            path=(*_tokens(user), "tokenconfig"),
        )
        return self._ask(request, _TOKEN_CONFIG)

    def delete_token(self, token_id: str, *, user: str = "me") -> None:
        """By id, which is not secret; NotFound if it is gone."""
        request = Request(
            operation=f"delete token {quoted(token_id)}",
            method="DELETE",
            path=("api", "v2", "users", user, "keys", token_id),
            success=frozenset({204}),
        )
        self._done(request)


def _tokens(user: str) -> tuple[str, ...]:
    return ("api", "v2", "users", user, "keys", "tokens")
