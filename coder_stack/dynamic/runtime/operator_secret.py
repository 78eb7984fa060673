"""The Secret in coderd's namespace that holds the operator's token: the token's one home (CP10).

Beside the token it says which coderd it is for and whose it is. So every operation, also a destroy
that does not run the program, can use it, and can log in for another one if coderd refuses it. A
Secret that somebody else made holds a token alone: it is read, and never written.
"""

import json
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr, ValidationError

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.cluster.secret import (
    SecretAbsent,
    SecretContent,
    SecretKeyRef,
    apply_secret,
    delete_secret,
    read_secret,
    read_value,
    value_of,
)
from coder_stack.coderd import (
    Coderd,
    CoderdError,
    Conflict,
    CredentialMissing,
    InvalidConnection,
    NotFound,
    checked_token,
)
from coder_stack.coderd.procedures.bootstrap import Account, new_token, token_id
from coder_stack.dynamic.runtime.config import StackConfig

__all__ = [
    "OperatorAccount",
    "OperatorSecret",
    "keep",
    "passwords",
    "read",
    "read_own",
    "remove",
    "renew",
]

_WAY = "coder-stack/coderd"
_ACCOUNT = "coder-stack/account"
_PASSWORD = "password"  # noqa: S105  # a key in the Secret
_LABELS = {
    "app.kubernetes.io/managed-by": "coder-stack",
    "app.kubernetes.io/part-of": "coder",
    "app.kubernetes.io/component": "operator",
}


class OperatorAccount(Account):
    """The account as the Secret records it, with where its password is if not in the config."""

    password_secret: SecretKeyRef | None = None
    owner: str = ""
    """The stack whose operator it is; empty if nobody said."""


@dataclass(frozen=True)
class OperatorSecret:
    """What the Secret says; `account` is None if the Secret is not ours."""

    token: SecretStr | None = None
    password: SecretStr | None = None
    """Only of a stack whose first version made the password up."""
    way: str = ""
    account: OperatorAccount | None = None


def read(place: SecretKeyRef, stack: Kubeconfig) -> OperatorSecret:
    """SecretAbsent if it is not there; a CoderdError if the API server cannot be asked."""
    content = read_secret(place, stack)
    annotations = content.metadata.annotations
    try:
        account = OperatorAccount.model_validate(json.loads(annotations.get(_ACCOUNT, "null")))
    except (ValueError, ValidationError):
        account = None
    if account is None:
        return OperatorSecret(token=value_of(content, place.key))
    return OperatorSecret(
        token=_usable(_optional(content, place.key)),
        password=_optional(content, _PASSWORD),
        way=annotations.get(_WAY, ""),
        account=account,
    )


def read_own(place: SecretKeyRef, stack: Kubeconfig) -> OperatorSecret:
    """The same; nothing if it is not there yet, and a Conflict if somebody else made it."""
    try:
        there = read(place, stack)
    except SecretAbsent as absent:
        if not absent.exists:
            return OperatorSecret()
        there = OperatorSecret()
    if there.account is None:
        why = "it is there and is not this program's; give it as access.tokenSecret, or rename it."
        raise Conflict(f"use {place.label}", why)
    return there


def passwords(
    config: StackConfig, account: OperatorAccount, home: OperatorSecret
) -> list[SecretStr]:
    """The passwords to log in with, the declared one first. SecretAbsent if that is missing."""
    declared = config.initial_password
    if account.password_secret is not None:
        declared = read_value(account.password_secret, config.kubernetes)
    return [each for each in (declared, home.password) if each is not None]


def renew(
    coderd: Coderd,
    place: SecretKeyRef,
    config: StackConfig,
    way: str,
    account: OperatorAccount,
    home: OperatorSecret,
) -> SecretStr:
    """Log in, make a new token, and keep it. What cannot be kept is not left in coderd."""
    try:
        known = passwords(config, account, home)
    except SecretAbsent as absent:
        place_of = account.password_secret
        label = place_of.label if place_of else "the password"
        raise CredentialMissing("log in", f"{label}: {absent}", credential="password") from None
    token = new_token(coderd, account, known)
    try:
        keep(place, config.kubernetes, OperatorSecret(token, home.password, way, account))
    except CoderdError:
        _revoke(coderd, token)
        raise
    return token


def keep(place: SecretKeyRef, stack: Kubeconfig, home: OperatorSecret) -> None:
    """Write the Secret. One that somebody else made is left alone."""
    operation = f"write {place.label}"
    read_own(place, stack)
    values: dict[str, SecretStr | None] = {place.key: home.token, _PASSWORD: home.password}
    account: Any = home.account.model_dump(mode="json", exclude_none=True) if home.account else None
    try:
        apply_secret(
            place,
            stack,
            {key: value for key, value in values.items() if value is not None},
            annotations={_WAY: home.way, _ACCOUNT: json.dumps(account, sort_keys=True)},
            labels=_LABELS,
        )
    except SecretAbsent as absent:
        why = f"{absent} Create the namespace first."
        raise NotFound(operation, why) from None


def remove(place: SecretKeyRef, stack: Kubeconfig) -> None:
    """Delete the Secret if it is ours."""
    try:
        if read(place, stack).account is not None:
            delete_secret(place, stack)
    except SecretAbsent:
        return


def _revoke(coderd: Coderd, token: SecretStr) -> None:
    try:
        coderd.with_token(token).delete_token(token_id(token))
    except CoderdError:
        return  # the next run finds it by its name and replaces it


def _usable(token: SecretStr | None) -> SecretStr | None:
    """Without a text that can be no token: somebody spoilt it, and another one is to be made."""
    try:
        return token and checked_token(token)
    except InvalidConnection:
        return None


def _optional(content: SecretContent, key: str) -> SecretStr | None:
    try:
        return value_of(content, key)
    except SecretAbsent:
        return None
