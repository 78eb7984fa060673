"""Create the first user, log in with a password, and create a named token (CP6, CP9).

Passwords come from the stack's config or a Secret, so that the next run can continue after a kill.
Each step looks before it repeats, because a response may be lost after coderd did the work (U3).
"""

from collections.abc import Sequence
from datetime import timedelta

from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import (
    CoderdError,
    Conflict,
    ForbiddenByRole,
    NoAnswer,
    NotFound,
    Unauthenticated,
)
from coder_stack.coderd.models import ApiToken, NewToken
from coder_stack.config_keys import command_to_set
from coder_stack.console import warn
from coder_stack.frozen_model import FrozenModel


class Account(FrozenModel):
    """The operator's user, and the name and lifetime of the token."""

    email: str
    username: str
    token_name: str
    token_days: int


def new_token(coderd: Coderd, account: Account, passwords: Sequence[SecretStr]) -> SecretStr:
    """Create a token for an owner; delete one of the same name, whose secret is lost."""
    session = log_in(coderd, account, passwords)
    user = coderd.with_token(session)
    try:
        _refuse_unless_owner(user, account)
        return _named_token(user, account).key
    finally:
        discard(user, session)  # it would end by itself within a day


def log_in(coderd: Coderd, account: Account, passwords: Sequence[SecretStr]) -> SecretStr:
    """Return a session token; create the first user if coderd has none yet."""
    if not passwords:
        why = f"there is no password; set it with: {command_to_set('initialPassword')}"
        raise Unauthenticated("log in", why, credential="password")
    _ensure_first_user(coderd, account, passwords[0])
    refused: Unauthenticated | None = None
    for password in passwords:
        try:
            return coderd.login(email=account.email, password=password).session_token
        except Unauthenticated as error:
            # Another password does not help if coderd accepts none (SSO) from this user.
            if error.status != 401:
                raise
            refused = error
    why = (
        f"coderd does not accept the password for {account.email}, and there is a first user "
        f"already; set the right one with: {command_to_set('initialPassword')}; or give a session "
        "token of an owner."
    )
    raise Unauthenticated("log in", why, credential="password", status=401) from refused


def discard(coderd: Coderd, token: SecretStr) -> None:
    """Delete a token that nobody will use; ignore errors, because it can do no harm."""
    try:
        coderd.with_token(token).delete_token(token_id(token))
    except CoderdError:
        return


def token_works(coderd: Coderd) -> bool:
    """Tell whether coderd accepts the client's token."""
    try:
        coderd.user()
    except Unauthenticated:
        return False
    return True


def revoke(coderd: Coderd, token: SecretStr) -> None:
    """Delete a former token; warn if coderd cannot be asked."""
    try:
        coderd.delete_token(token_id(token))
    except (NotFound, Unauthenticated):
        return  # it is gone or expired
    except CoderdError as error:
        warn(f"operator access: the former token was left in coderd: {error}")


def token_id(token: SecretStr) -> str:
    """Return the public part of a token, by which coderd lists and deletes it."""
    return token.get_secret_value().partition("-")[0]


def _ensure_first_user(coderd: Coderd, account: Account, password: SecretStr) -> None:
    for attempt in ("first", "after a lost answer"):
        if coderd.has_first_user():
            return
        try:
            coderd.create_first_user(
                email=account.email, username=account.username, password=password
            )
        except Conflict:
            return  # created meanwhile; the login tells whether by us
        except NoAnswer:
            if attempt != "first":
                raise
        else:
            return


def _refuse_unless_owner(user: Coderd, account: Account) -> None:
    if not user.user().is_owner:
        why = (
            f"{account.email} is no owner of coderd; declare e-mail and password of an owner, or "
            "give a session token of one."
        )
        raise ForbiddenByRole("make the operator's token", why)


def _named_token(user: Coderd, account: Account) -> NewToken:
    lifetime = min(timedelta(days=account.token_days), user.token_config().longest)
    try:
        return user.create_token(account.token_name, lifetime=lifetime)
    except CoderdError as error:
        if not (isinstance(error, Conflict) or error.may_have_happened):
            raise
    # Created by a run that lost the response or the Secret: nobody has its secret.
    lost = _find(user, account.token_name)
    if lost is not None:
        user.delete_token(lost.id)
    return user.create_token(account.token_name, lifetime=lifetime)


def _find(user: Coderd, name: str) -> ApiToken | None:
    try:
        return user.token(name)
    except NotFound:
        return None
