"""Whose token the operator uses, and how it is found, made, tried and given up.

What operator_access.py does for Pulumi it does with these.
Two sorts of operator: one whose token was given, and one whose token is made with a password. Both
are looked at in previews, so that a wrong credential is one sentence before anything changes.
"""

import hashlib
from typing import Any

from pydantic import SecretStr

from coder_stack.coderd import (
    Coderd,
    CoderdError,
    Conflict,
    ForbiddenByRole,
    NotFound,
    Reason,
    User,
)
from coder_stack.coderd import Unauthenticated as NotAccepted
from coder_stack.dynamic import operator_secret
from coder_stack.dynamic.bootstrap import Account, give_back, log_in, token_id
from coder_stack.dynamic.connection import CoderdInputs, Link
from coder_stack.dynamic.failure import warn
from coder_stack.dynamic.kubernetes_secret import (
    SecretAbsent,
    SecretPlace,
    read_secret,
    read_value,
)
from coder_stack.dynamic.operator_secret import OperatorSecret
from coder_stack.dynamic.stack_config import StackConfig, command_to_set
from coder_stack.dynamic.wire import Problem, WireSecret

__all__ = [
    "OperatorAccessInputs",
    "OperatorAccessState",
    "accepted",
    "account_problems",
    "give_up",
    "given_problems",
    "leave",
    "made_token",
    "next_step",
    "own_token",
    "refuse_unless_owner",
    "settled_token_name",
]

_TOKEN_NAME = "coder-stack"  # noqa: S105  # a name
_NEEDED = "the password of coderd's first user is needed to create that user and to log in"
_NO_HOME = "must be the place of a Secret, in which the token that is made is kept"


class OperatorAccessInputs(CoderdInputs):
    """What the program asks for, and below the line what `check` made of it."""

    make_token: bool = False
    """Make a token and keep it in the Secret that `connection.credential` names."""
    username: str = "admin"
    email: str = "admin@example.com"
    password_secret: SecretPlace | None = None
    """Where the first user's password is, unless it is the stack config's `initialPassword`."""
    owner: str = ""
    """Tells this stack from others on the same coderd; part of a generated token name."""
    token_name: str = ""
    token_days: int = 365
    wait_seconds: int = 180
    # Settled by check:
    given: str = ""
    """A fingerprint of the token that was given, or empty."""
    password_hash: WireSecret = SecretStr("")
    """Of the declared password: another one is tried before it is relied on."""
    accepted: bool = True
    """The program always wants true; a refresh finds out whether coderd takes the token."""


class OperatorAccessState(OperatorAccessInputs):
    """With who it is and where. `token_id` is the token's public half."""

    url: str = ""
    deployment_id: str = ""
    version: str = ""
    user: str = ""
    token_id: str = ""
    reason: str = ""
    """Why the token is not accepted: Forbidden or SecretMissing; else empty."""
    token: WireSecret | None = None
    password: WireSecret | None = None
    """Both only in states of an earlier version; the next update moves them to their home."""


def settled_token_name(want: "OperatorAccessInputs", old: OperatorAccessInputs | None) -> str:
    """The given name, the one it has, or a new one that no other stack uses."""
    if want.token_name:
        return want.token_name
    if old is not None and old.token_name:
        return old.token_name
    return f"{_TOKEN_NAME}-{want.owner}" if want.owner else _TOKEN_NAME


def account_problems(
    want: "OperatorAccessInputs",
    config: StackConfig,
    *,
    old: "OperatorAccessInputs | None",
    moving: bool,
) -> tuple[dict[str, Any], list[Problem]]:
    """Look for the password. `moving`: a state of an earlier version may still hold it."""
    place = want.connection.credential
    if not isinstance(place, SecretPlace):
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
    return {"password_hash": _hash(want.email, declared)}, []


def given_problems(link: Link, *, new: bool) -> tuple[SecretStr | None, list[Problem]]:
    """Look whether coderd accepts the given token, and as an owner's."""
    place = link.connection.credential
    reason = Reason.SECRET_MISSING if isinstance(place, SecretPlace) else Reason.FORBIDDEN
    try:
        token = link.source.token()
    except NotAccepted as error:
        if new and isinstance(place, SecretPlace) and _may_come(place, link.source.config):
            warn(f"{reason}: {error}")  # its namespace may come with this very update
            return None, []
        return None, [Problem("", f"{reason}: {error}")]
    except CoderdError as error:
        warn(f"{error.reason}: operator access, check: {error}")
        return None, []
    try:
        refuse_unless_owner(link.look(Coderd.user))
    except (NotAccepted, ForbiddenByRole) as error:
        return token, [Problem("", f"{error.reason}: {error}")]
    except CoderdError:
        return token, []  # nobody to ask yet
    return token, []


def own_token(
    link: Link,
    want: "OperatorAccessInputs",
    known: "OperatorAccessState | None",
    config: StackConfig,
) -> SecretStr:
    """The token at home if coderd accepts it and it is the wanted one; else a new one."""
    place, way = want.connection.credential, link.connection.way
    assert isinstance(place, SecretPlace), "check has refused anything else"  # noqa: S101
    account = _account(want)
    home = _home(place, want, known, config)
    moved = _moved_password(want, known, config) or home.password
    if known is not None and known.password_hash != want.password_hash:
        _try_password(link, account, _declared(want, config))
    for token in _candidates(home, known, way):
        if _same_token(home.account, known, account) and accepted(link.coderd.with_token(token)):
            now = OperatorSecret(token, moved, way, account)
            if now != home:
                operator_secret.keep(place, config.kubernetes, now)
            return token
    former = home.token if home.way == way else known.token if known else None
    home = OperatorSecret(home.token, moved, home.way, home.account)
    token = operator_secret.renew(link.coderd, place, config, way, account, home)
    if former is not None and not _same_token(home.account, known, account):
        _revoke(link.coderd.with_token(token), former)
    return token


def made_token(known: "OperatorAccessState", config: StackConfig) -> SecretStr | None:
    """The token that was made so far; None if it was given, or cannot be read."""
    place = known.connection.credential
    if place is None:
        return None if known.given else known.token
    if not (known.make_token and isinstance(place, SecretPlace)):
        return None
    try:
        home = operator_secret.read(place, config.kubernetes)
    except (SecretAbsent, CoderdError):
        return None
    return home.token if home.way == known.connection.way else None


def give_up(
    old: Link,
    former: SecretStr | None,
    known: "OperatorAccessState",
    want: "OperatorAccessInputs",
    config: StackConfig,
) -> None:
    """Leave nothing of the former token where the operator has another home or coderd now.

    At another coderd it is good for the rest of this run, which deletes there what moves away.
    """
    place, same_way = known.connection.credential, known.connection.way == want.connection.way
    stays = want.make_token and place in (None, want.connection.credential)
    if former is None or (same_way and stays):
        return
    if same_way:
        _revoke(old.coderd.with_token(former), former)
    else:
        _keep_for_this_run(old, former, known.token_name)
    if not isinstance(place, SecretPlace) or stays:
        return
    try:
        # By another kubeconfig it may be the very Secret that is in use.
        if operator_secret.read(place, config.kubernetes).token == former:
            operator_secret.remove(place, config.kubernetes)
    except SecretAbsent:
        return
    except CoderdError as error:
        warn(f"operator access: {place.label} was left: {error}")


def leave(link: Link, known: "OperatorAccessState", config: StackConfig) -> None:
    """Revoke our token and delete its Secret; the Secret goes also if coderd does not answer."""
    place = known.connection.credential
    try:
        token = link.source.token()
        link.coderd.with_token(token).delete_token(token_id(token))
    except (NotFound, NotAccepted):
        pass  # it is gone, or no longer worth anything
    finally:
        if isinstance(place, SecretPlace):
            operator_secret.remove(place, config.kubernetes)


def refuse_unless_owner(user: User) -> None:
    """Only an owner may manage licenses, keys and proxies."""
    if "owner" not in {role.name for role in user.roles}:
        why = f'it is of user "{user.username}", who is no owner; give a token of an owner.'
        raise ForbiddenByRole("use the operator's token", why)


def next_step(known: "OperatorAccessState") -> str:
    """What makes coderd accept the operator again."""
    place = known.connection.credential
    if known.make_token or (place is None and not known.given):
        return "The next `pulumi up` makes another one."
    if isinstance(place, SecretPlace):
        return f"Put a new one into {place.label}."
    return f"Set a new one with: {command_to_set('token')}; then run `pulumi up`."


def accepted(coderd: Coderd) -> bool:
    """Whether coderd takes the token."""
    try:
        coderd.user()
    except NotAccepted:
        return False
    return True


def _account(want: OperatorAccessInputs) -> Account:
    return Account(
        email=want.email,
        username=want.username,
        token_name=want.token_name,
        token_days=want.token_days,
        password_secret=want.password_secret,
        owner=want.owner,
    )


def _declared(want: "OperatorAccessInputs", config: StackConfig) -> SecretStr | None:
    if want.password_secret is not None:
        return read_value(want.password_secret, config.kubernetes)
    return config.initial_password


def _home(
    place: SecretPlace,
    want: "OperatorAccessInputs",
    old: "OperatorAccessInputs | None",
    config: StackConfig,
) -> OperatorSecret:
    """What is kept there; a Conflict if another stack keeps its token there."""
    home = operator_secret.read_own(place, config.kubernetes)
    theirs = home.account.owner if home.account else ""
    held = old is not None and old.connection.credential == place
    if theirs and want.owner and theirs != want.owner and not held:
        why = "it is another stack's; name another one, or delete it if that stack is gone."
        raise Conflict(f"use {place.label}", why)
    return home


def _may_come(place: SecretPlace, config: StackConfig) -> bool:
    """Whether nobody has made the Secret yet, so that this very update may."""
    try:
        read_secret(place, config.kubernetes)
    except (SecretAbsent, CoderdError):
        return True
    return False


def _moved_password(
    want: "OperatorAccessInputs", known: "OperatorAccessState | None", config: StackConfig
) -> SecretStr | None:
    """The password that an earlier version made up, if it stands nowhere but in this state."""
    made_up = known.password if known is not None else None
    if made_up is None or made_up == _declared(want, config):
        return None
    place = want.connection.credential
    where = place.label if isinstance(place, SecretPlace) else "its Secret"
    warn(
        "operator access: the first user's password was kept in this state alone; it is now in "
        f'{where} under "password". Declare it: {command_to_set("initialPassword")}'
    )
    return made_up


def _candidates(
    home: OperatorSecret, known: "OperatorAccessState | None", way: str
) -> list[SecretStr]:
    at_home = home.token if home.way == way else None
    of_old_state = known.token if known is not None and known.connection.way == way else None
    return [token for token in (at_home, of_old_state) if token is not None]


def _same_token(
    at_home: Account | None, known: "OperatorAccessState | None", account: Account
) -> bool:
    """Whether the token there is the one that is wanted now: of the same user and name."""
    was = at_home or known
    if was is None:
        return True
    return (was.email, was.token_name or _TOKEN_NAME) == (account.email, account.token_name)


def _try_password(link: Link, account: Account, declared: SecretStr | None) -> None:
    """Log in once with a password that changed, before the former one is forgotten."""
    if declared is not None:
        session = log_in(link.coderd, account, [declared])
        give_back(link.coderd.with_token(session), session)


def _keep_for_this_run(old: Link, former: SecretStr, name: str) -> None:
    try:
        if not accepted(old.quick.with_token(former)):
            return
        old.source.remember(former)
        why = "it is used there until this run ends, and then ends by its age; delete it there."
    except CoderdError as error:
        why = str(error)
    where = old.connection.way
    warn(f'operator access: the former token "{name}" was left in the coderd at {where}: {why}')


def _revoke(coderd: Coderd, token: SecretStr) -> None:
    try:
        coderd.delete_token(token_id(token))
    except (NotFound, NotAccepted):
        return  # it is gone, or no longer worth anything
    except CoderdError as error:
        warn(f"operator access: the former token was left in coderd: {error}")


def _hash(email: str, password: SecretStr | None) -> SecretStr:
    if password is None:
        return SecretStr("")
    text = f"{email}\n{password.get_secret_value()}"
    return SecretStr(hashlib.sha256(text.encode()).hexdigest())
