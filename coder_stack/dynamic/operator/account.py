"""The operator's account: find, verify and create its token.

The token is either given by the user, or created with a password. Both are verified in previews, so
that a wrong credential is reported before anything changes. Removal is in teardown.py.
"""

import hashlib
from dataclasses import replace
from typing import Any

from pydantic import SecretStr

from coder_stack.cluster.secret import (
    SecretAbsent,
    SecretKeyRef,
    read_secret,
    read_value,
)
from coder_stack.coderd.errors import CoderdError, Conflict, ForbiddenByRole, InvalidConnection
from coder_stack.coderd.errors import Unauthenticated as NotAccepted
from coder_stack.coderd.models import User
from coder_stack.coderd.procedures.bootstrap import Account, discard, log_in, revoke, token_works
from coder_stack.coderd.reasons import Reason
from coder_stack.config_keys import command_to_set
from coder_stack.console import warn
from coder_stack.dynamic.operator.inputs import (
    TOKEN_NAME,
    OperatorAccessInputs,
    OperatorAccessState,
)
from coder_stack.dynamic.runtime import answers, operator_secret
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.operator_secret import OperatorAccount, OperatorSecret
from coder_stack.dynamic.runtime.props import Problem
from coder_stack.dynamic.runtime.session import Session

_NEEDED = "the password of coderd's first user is needed to create that user and to log in"
_SECRET_NEEDED = "must name the Secret in which the created token is stored"  # noqa: S105  # a message


def check_account(
    want: OperatorAccessInputs,
    config: StackConfig,
    *,
    old: OperatorAccessInputs | None,
    moving: bool,
) -> tuple[dict[str, Any], list[Problem]]:
    """Look for the password. `moving`: a state of an earlier version may still hold it."""
    ref, password_ref = want.connection.credential, want.password_secret
    if not isinstance(ref, SecretKeyRef):
        return {}, [Problem("connection.credential", _SECRET_NEEDED)]
    try:
        kubernetes = config.kubernetes
        declared = read_value(password_ref, kubernetes) if password_ref else config.initial_password
        stored = _stored(ref, want, old, config)
    except SecretAbsent as absent:
        said = f"{Reason.SECRET_MISSING}: {(password_ref or ref).label}: {absent}"
        if old is None and not absent.exists:
            warn(said)  # this update may create it
            return {}, []
        return {}, [Problem("", said)]
    except Conflict as error:
        return {}, [Problem("", f"{error.reason}: {error}")]
    except CoderdError as error:
        warn(f"{error.reason}: operator access, check: {error}")
        return {"password_hash": old.password_hash} if old else {}, []
    if declared is None and stored.password is None and not moving:
        why = f"{_NEEDED}; set it with: {command_to_set('initialPassword')}"
        return {}, [Problem("", f"initialPassword: {why}")]
    if declared is None and stored.password is not None:
        warn(
            f'operator access: the first user\'s password is in {ref.label} under "password" and '
            f"is declared nowhere; do it: {command_to_set('initialPassword')}"
        )
    return {"password_hash": _hash(want.email, declared)}, []


def check_given_token(session: Session, *, new: bool) -> tuple[SecretStr | None, list[Problem]]:
    """Check that coderd accepts the given token and that it is an owner's."""
    ref = session.connection.credential
    try:
        token = session.source.token()
    except NotAccepted as error:
        if new and isinstance(ref, SecretKeyRef) and _is_absent(ref, session.source.config):
            warn(f"{error.reason}: {error}")  # this update may create it
            return None, []
        return None, [Problem("", f"{error.reason}: {error}")]
    except CoderdError as error:
        warn(f"{error.reason}: operator access, check: {error}")
        return None, []
    try:
        refuse_unless_owner(session.peek_cached(answers.user_of(session.token)))
    except (NotAccepted, ForbiddenByRole, InvalidConnection) as error:
        return token, [Problem("", f"{error.reason}: {error}")]
    except CoderdError:
        return token, []  # coderd may not be there yet
    return token, []


def ensure_token(
    session: Session,
    want: OperatorAccessInputs,
    known: OperatorAccessState | None,
    config: StackConfig,
) -> SecretStr:
    """Return the stored token if coderd accepts it and it is the wanted one; else a new one."""
    ref, target = want.connection.credential, session.target
    assert isinstance(ref, SecretKeyRef), "check has refused anything else"  # noqa: S101
    account = _account(want)
    declared = operator_secret.declared_password(want.password_secret, config)
    stored = _stored(ref, want, known, config)
    if known is not None and known.password_hash != want.password_hash and declared is not None:
        # Verify a changed password before the former one is forgotten.
        discard(session.coderd, log_in(session.coderd, account, [declared]))
    # The Secret need not hold a password once coderd has accepted the declared one.
    verified = known is not None and declared is not None
    password = None if verified else _generated_password(known, ref) or stored.password
    is_wanted = _is_wanted(stored.account or known, account)
    for token in _existing_tokens(stored, known, config, target):
        if is_wanted and token_works(session.coderd.with_token(token)):
            content = OperatorSecret(token, password, target, account)
            if content != stored:
                operator_secret.write(ref, config.kubernetes, content)
            return token
    is_here = config.canonical(stored.target) == target
    former = stored.token if is_here else known.token if known else None
    stored = replace(stored, password=password)
    token = operator_secret.renew(session.coderd, ref, config, target, account, stored)
    if former is not None and not is_wanted:
        revoke(session.coderd.with_token(token), former)
    return token


def refuse_unless_owner(user: User) -> None:
    """Raise ForbiddenByRole for a user who may not manage licenses, keys and proxies."""
    if not user.is_owner:
        why = f'it is of user "{user.username}", who is no owner; give a token of an owner.'
        raise ForbiddenByRole("use the operator's token", why)


def next_step(known: OperatorAccessState) -> str:
    """Tell the user how to make coderd accept the operator again."""
    ref = known.connection.credential
    if known.make_token or (ref is None and not known.given):
        return "The next `pulumi up` makes another one."
    if isinstance(ref, SecretKeyRef):
        return f"Put a new one into {ref.label}."
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


def _stored(
    ref: SecretKeyRef,
    want: OperatorAccessInputs,
    old: OperatorAccessInputs | None,
    config: StackConfig,
) -> OperatorSecret:
    """Read our Secret; raise Conflict if it belongs to another stack or another coderd.

    A stack recognizes its own Secret by its state or by the owner, also for another coderd.
    """
    stored = operator_secret.read_own(ref, config.kubernetes)
    if stored.account is None or (old is not None and old.connection.credential == ref):
        return stored
    owner = stored.account.owner
    if owner and want.owner and owner != want.owner:
        why = "it is another stack's; name another one, or delete it if that stack is gone."
        raise Conflict(f"use {ref.label}", why)
    elsewhere = config.canonical(stored.target) != config.canonical(want.connection.target)
    if elsewhere and not (owner and want.owner):
        why = f"its token is for {stored.target}; name another one, or delete it if that is gone."
        raise Conflict(f"use {ref.label}", why)
    return stored


def _is_absent(ref: SecretKeyRef, config: StackConfig) -> bool:
    """Tell whether there is no Secret yet, so that this update may create it."""
    try:
        read_secret(ref, config.kubernetes)
    except (SecretAbsent, CoderdError):
        return True
    return False


def _generated_password(known: OperatorAccessState | None, ref: SecretKeyRef) -> SecretStr | None:
    """Return the password that an earlier version generated and stored in this state alone."""
    if known is None or known.password is None:
        return None
    warn(
        "operator access: the first user's password was kept in this state alone; it is now in "
        f'{ref.label} under "password". Declare it: {command_to_set("initialPassword")}'
    )
    return known.password


def _existing_tokens(
    stored: OperatorSecret, known: OperatorAccessState | None, config: StackConfig, target: str
) -> list[SecretStr]:
    """Return the tokens for this coderd in the Secret and in an old state."""
    places = [(stored.target, stored.token)]
    places += [(known.connection.target, known.token)] if known is not None else []
    return [token for where, token in places if token and config.canonical(where) == target]


def _is_wanted(was: Account | OperatorAccessState | None, account: Account) -> bool:
    """Tell whether the existing token has the wanted user and name."""
    if was is None:
        return True
    return (was.email, was.token_name or TOKEN_NAME) == (account.email, account.token_name)


def _hash(email: str, password: SecretStr | None) -> SecretStr:
    if password is None:
        return SecretStr("")
    text = f"{email}\n{password.get_secret_value()}"
    return SecretStr(hashlib.sha256(text.encode()).hexdigest())
