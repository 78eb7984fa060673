"""Whose token the operator uses, and how it is found, made and tried.

What operator_access.py does for Pulumi it does with these.
Two sorts of operator: one whose token was given, and one whose token is made with a password. Both
are looked at in previews, so that a wrong credential is one sentence before anything changes.
"""

import hashlib
from typing import Any

from pydantic import SecretStr

from coder_stack.cluster.secret import (
    SecretAbsent,
    SecretKeyRef,
    read_secret,
    read_value,
)
from coder_stack.coderd import (
    Coderd,
    CoderdError,
    Conflict,
    CredentialMissing,
    ForbiddenByRole,
    InvalidConnection,
    Reason,
    User,
)
from coder_stack.coderd import Unauthenticated as NotAccepted
from coder_stack.coderd.procedures.bootstrap import (
    Account,
    end_session,
    log_in,
    revoke,
    token_works,
)
from coder_stack.config_keys import command_to_set
from coder_stack.console import warn
from coder_stack.dynamic.operator.inputs import (
    TOKEN_NAME,
    OperatorAccessInputs,
    OperatorAccessState,
)
from coder_stack.dynamic.runtime import operator_secret
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.operator_secret import OperatorAccount, OperatorSecret
from coder_stack.dynamic.runtime.props import Problem
from coder_stack.dynamic.runtime.session import Session

__all__ = [
    "account_problems",
    "given_problems",
    "next_step",
    "own_token",
    "refuse_unless_owner",
]

_NEEDED = "the password of coderd's first user is needed to create that user and to log in"
_NO_HOME = "must be the place of a Secret, in which the token that is made is kept"


def account_problems(
    want: OperatorAccessInputs,
    config: StackConfig,
    *,
    old: OperatorAccessInputs | None,
    moving: bool,
) -> tuple[dict[str, Any], list[Problem]]:
    """Look for the password. `moving`: a state of an earlier version may still hold it."""
    place = want.connection.credential
    if not isinstance(place, SecretKeyRef):
        return {}, [Problem("connection.credential", _NO_HOME)]
    try:
        declared = _declared(want, config)
        home = _home(place, want, old, config)
    except SecretAbsent as absent:
        label = want.password_secret.label if want.password_secret else place.label
        said = f"{Reason.SECRET_MISSING}: {label}: {absent}"
        if old is None and not absent.exists:
            warn(said)  # its namespace may come with this very update
            return {}, []
        return {}, [Problem("", said)]
    except Conflict as error:
        return {}, [Problem("", f"{error.reason}: {error}")]
    except CoderdError as error:
        warn(f"{error.reason}: operator access, check: {error}")
        return {"password_hash": old.password_hash} if old else {}, []
    if declared is None and home.password is None and not moving:
        why = f"{_NEEDED}; set it with: {command_to_set('initialPassword')}"
        return {}, [Problem("", f"initialPassword: {why}")]
    if declared is None and home.password is not None:
        warn(
            f'operator access: the first user\'s password is in {place.label} under "password" and '
            f"is declared nowhere; do it: {command_to_set('initialPassword')}"
        )
    return {"password_hash": _hash(want.email, declared)}, []


def given_problems(session: Session, *, new: bool) -> tuple[SecretStr | None, list[Problem]]:
    """Look whether coderd accepts the given token, and as an owner's."""
    place = session.connection.credential
    try:
        token = session.source.token()
    except NotAccepted as error:
        if new and isinstance(place, SecretKeyRef) and _may_come(place, session.source.config):
            warn(f"{error.reason}: {error}")  # its namespace may come with this very update
            return None, []
        return None, [Problem("", f"{error.reason}: {error}")]
    except CoderdError as error:
        warn(f"{error.reason}: operator access, check: {error}")
        return None, []
    try:
        refuse_unless_owner(session.look(Coderd.user))
    except (NotAccepted, ForbiddenByRole, InvalidConnection) as error:
        return token, [Problem("", f"{error.reason}: {error}")]
    except CoderdError:
        return token, []  # nobody to ask yet
    return token, []


def own_token(
    session: Session,
    want: OperatorAccessInputs,
    known: OperatorAccessState | None,
    config: StackConfig,
) -> SecretStr:
    """The token at home if coderd accepts it and it is the wanted one; else a new one."""
    place, way = want.connection.credential, session.connection.way
    assert isinstance(place, SecretKeyRef), "check has refused anything else"  # noqa: S101
    account = _account(want)
    try:
        declared = _declared(want, config)
    except SecretAbsent as absent:
        label = want.password_secret.label if want.password_secret else ""
        raise CredentialMissing("log in", f"{label}: {absent}", credential="password") from None
    home = _home(place, want, known, config)
    if known is not None and known.password_hash != want.password_hash:
        _try_password(session, account, declared)
    # A declared password that coderd has accepted needs no other beside it.
    tried = known is not None and declared is not None
    moved = None if tried else _made_up_password(known, place) or home.password
    for token in _candidates(home, known, way):
        if _same_token(home.account, known, account) and token_works(
            session.coderd.with_token(token)
        ):
            now = OperatorSecret(token, moved, way, account)
            if now != home:
                operator_secret.keep(place, config.kubernetes, now)
            return token
    former = home.token if home.way == way else known.token if known else None
    home = OperatorSecret(home.token, moved, home.way, home.account)
    token = operator_secret.renew(session.coderd, place, config, way, account, home)
    if former is not None and not _same_token(home.account, known, account):
        revoke(session.coderd.with_token(token), former)
    return token


def refuse_unless_owner(user: User) -> None:
    """Only an owner may manage licenses, keys and proxies."""
    if not user.is_owner:
        why = f'it is of user "{user.username}", who is no owner; give a token of an owner.'
        raise ForbiddenByRole("use the operator's token", why)


def next_step(known: OperatorAccessState) -> str:
    """What makes coderd accept the operator again."""
    place = known.connection.credential
    if known.make_token or (place is None and not known.given):
        return "The next `pulumi up` makes another one."
    if isinstance(place, SecretKeyRef):
        return f"Put a new one into {place.label}."
    command = command_to_set("token")
    return f"Set a new one with: {command}; then run `pulumi up`, or add --run-program."


def _account(want: OperatorAccessInputs) -> OperatorAccount:
    return OperatorAccount(
        email=want.email,
        username=want.username,
        token_name=want.token_name,
        token_days=want.token_days,
        password_secret=want.password_secret,
        owner=want.owner,
    )


def _declared(want: OperatorAccessInputs, config: StackConfig) -> SecretStr | None:
    if want.password_secret is not None:
        return read_value(want.password_secret, config.kubernetes)
    return config.initial_password


def _home(
    place: SecretKeyRef,
    want: OperatorAccessInputs,
    old: OperatorAccessInputs | None,
    config: StackConfig,
) -> OperatorSecret:
    """What is kept there; a Conflict if another stack keeps its token there, or another coderd's.

    By its state or its owner this stack may take along its own to another coderd.
    """
    home = operator_secret.read_own(place, config.kubernetes)
    if home.account is None or (old is not None and old.connection.credential == place):
        return home
    theirs = home.account.owner
    if theirs and want.owner and theirs != want.owner:
        why = "it is another stack's; name another one, or delete it if that stack is gone."
        raise Conflict(f"use {place.label}", why)
    if home.way != want.connection.way and not (theirs and want.owner):
        why = f"its token is for {home.way}; name another one, or delete it if that is gone."
        raise Conflict(f"use {place.label}", why)
    return home


def _may_come(place: SecretKeyRef, config: StackConfig) -> bool:
    """Whether nobody has made the Secret yet, so that this very update may."""
    try:
        read_secret(place, config.kubernetes)
    except (SecretAbsent, CoderdError):
        return True
    return False


def _made_up_password(known: OperatorAccessState | None, place: SecretKeyRef) -> SecretStr | None:
    """The password that an earlier version made up and kept in this state alone."""
    if known is None or known.password is None:
        return None
    warn(
        "operator access: the first user's password was kept in this state alone; it is now in "
        f'{place.label} under "password". Declare it: {command_to_set("initialPassword")}'
    )
    return known.password


def _candidates(
    home: OperatorSecret, known: OperatorAccessState | None, way: str
) -> list[SecretStr]:
    at_home = home.token if home.way == way else None
    of_old_state = known.token if known is not None and known.connection.way == way else None
    return [token for token in (at_home, of_old_state) if token is not None]


def _same_token(
    at_home: Account | None, known: OperatorAccessState | None, account: Account
) -> bool:
    """Whether the token there is the one that is wanted now: of the same user and name."""
    was = at_home or known
    if was is None:
        return True
    return (was.email, was.token_name or TOKEN_NAME) == (account.email, account.token_name)


def _try_password(session: Session, account: Account, declared: SecretStr | None) -> None:
    """Log in once with a password that changed, before the former one is forgotten."""
    if declared is not None:
        login = log_in(session.coderd, account, [declared])
        end_session(session.coderd.with_token(login), login)


def _hash(email: str, password: SecretStr | None) -> SecretStr:
    if password is None:
        return SecretStr("")
    text = f"{email}\n{password.get_secret_value()}"
    return SecretStr(hashlib.sha256(text.encode()).hexdigest())
