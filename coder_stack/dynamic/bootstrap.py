"""Getting into a fresh coderd: first user, login, a named token (CP6). No cookies.

Each step looks before it repeats: an answer may have been lost after coderd did the work (U3). The
login's own session is given back at the end; only the named token stays.
"""

from dataclasses import dataclass
from datetime import timedelta

from pydantic import SecretStr

from coder_stack.coderd import (
    ApiToken,
    Coderd,
    CoderdError,
    Conflict,
    NewToken,
    NoAnswer,
    NotFound,
    Unauthenticated,
)

__all__ = ["Account", "new_token"]


@dataclass(frozen=True, kw_only=True)
class Account:
    """Who the operator is, and what the token is called."""

    email: str
    username: str
    password: SecretStr
    token_name: str
    lifetime: timedelta


def new_token(coderd: Coderd, account: Account) -> NewToken:
    """A fresh token of that name; one of the same name that we cannot know any more is removed."""
    _ensure_first_user(coderd, account)
    try:
        session = coderd.login(email=account.email, password=account.password).session_token
    except Unauthenticated as error:
        why = (
            "there is a first user already, and not with this e-mail and password; give the right "
            "password, or a session token."
        )
        raise Unauthenticated("log in", why, credential="password") from error
    user = coderd.with_token(session)
    token = _named_token(user, account)
    _give_back(user, session)
    return token


def _ensure_first_user(coderd: Coderd, account: Account) -> None:
    for attempt in ("first", "after a lost answer"):
        if coderd.has_first_user():
            return
        try:
            coderd.create_first_user(
                email=account.email, username=account.username, password=account.password
            )
        except Conflict:
            return  # somebody was quicker; the login tells whether it was us
        except NoAnswer:
            if attempt != "first":
                raise
        else:
            return


def _named_token(user: Coderd, account: Account) -> NewToken:
    lifetime = min(account.lifetime, user.token_config().longest)
    try:
        return user.create_token(account.token_name, lifetime=lifetime)
    except CoderdError as error:
        if not (isinstance(error, Conflict) or error.may_have_happened):
            raise
    # Made by a run whose answer or state was lost: nobody has its secret.
    lost = _find(user, account.token_name)
    if lost is not None:
        user.delete_token(lost.id)
    return user.create_token(account.token_name, lifetime=lifetime)


def _find(user: Coderd, name: str) -> ApiToken | None:
    try:
        return user.token(name)
    except NotFound:
        return None


def _give_back(user: Coderd, session: SecretStr) -> None:
    """Sessions end by themselves within a day; failing to end one early is no failure."""
    try:
        user.delete_token(session.get_secret_value().partition("-")[0])
    except CoderdError:
        return
