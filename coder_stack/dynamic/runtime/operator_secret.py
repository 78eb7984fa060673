"""The Secret in coderd's namespace that stores the operator's token (CP10).

Annotations say which coderd the token is for and whose it is. So every operation, also a destroy
without the program, can use the token, and can log in for another one if coderd refuses it. A
Secret that somebody else created holds a token alone: it is read, and never written.
"""

import json
from dataclasses import dataclass

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
from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import checked_token
from coder_stack.coderd.errors import (
    CoderdError,
    Conflict,
    CredentialMissing,
    InvalidConnection,
    NotFound,
)
from coder_stack.coderd.procedures.bootstrap import Account, discard, new_token
from coder_stack.dynamic.runtime.config import StackConfig

_TARGET = "coder-stack/coderd"
_ACCOUNT = "coder-stack/account"
_PASSWORD = "password"  # noqa: S105  # a key in the Secret
_LABELS = {
    "app.kubernetes.io/managed-by": "coder-stack",
    "app.kubernetes.io/part-of": "coder",
    "app.kubernetes.io/component": "operator",
}


class OperatorAccount(Account):
    """The account that an annotation records; `password_secret` is None if the config has it."""

    password_secret: SecretKeyRef | None = None
    owner: str = ""
    """The stack whose operator it is; empty if unknown."""


@dataclass(frozen=True)
class OperatorSecret:
    """The content of the Secret; `account` is None if the Secret is not ours."""

    token: SecretStr | None = None
    password: SecretStr | None = None
    """Only of a stack whose first version generated the password."""
    target: str = ""
    account: OperatorAccount | None = None


def read(ref: SecretKeyRef, stack: Kubeconfig) -> OperatorSecret:
    """Read the Secret; raise SecretAbsent if there is none, a CoderdError without an answer."""
    content = read_secret(ref, stack)
    annotations = content.metadata.annotations
    try:
        account = OperatorAccount.model_validate(json.loads(annotations.get(_ACCOUNT, "null")))
    except (ValueError, ValidationError):
        account = None
    if account is None:
        return OperatorSecret(token=value_of(content, ref.key))
    return OperatorSecret(
        token=_usable(_optional(content, ref.key)),
        password=_optional(content, _PASSWORD),
        target=annotations.get(_TARGET, ""),
        account=account,
    )


def read_own(ref: SecretKeyRef, stack: Kubeconfig) -> OperatorSecret:
    """Read our Secret; empty if there is none, and a Conflict if somebody else created it."""
    try:
        stored = read(ref, stack)
    except SecretAbsent as absent:
        if not absent.exists:
            return OperatorSecret()
        stored = OperatorSecret()
    if stored.account is None:
        why = "it is there and is not this program's; give it as access.tokenSecret, or rename it."
        raise Conflict(f"use {ref.label}", why)
    return stored


def declared_password(ref: SecretKeyRef | None, config: StackConfig) -> SecretStr | None:
    """Return the password of the Secret or the config; raise CredentialMissing without the key."""
    if ref is None:
        return config.initial_password
    try:
        return read_value(ref, config.kubernetes)
    except SecretAbsent as absent:
        raise CredentialMissing("log in", f"{ref.label}: {absent}", credential="password") from None


def renew(
    coderd: Coderd,
    ref: SecretKeyRef,
    config: StackConfig,
    target: str,
    account: OperatorAccount,
    stored: OperatorSecret,
) -> SecretStr:
    """Log in, create a token and store it; revoke it if it cannot be stored."""
    declared = declared_password(account.password_secret, config)
    passwords = [each for each in (declared, stored.password) if each is not None]
    token = new_token(coderd, account, passwords)
    try:
        write(ref, config.kubernetes, OperatorSecret(token, stored.password, target, account))
    except CoderdError:
        discard(coderd, token)  # else the next run finds it by its name and replaces it
        raise
    return token


def write(ref: SecretKeyRef, stack: Kubeconfig, content: OperatorSecret) -> None:
    """Write the Secret; raise Conflict if somebody else created it."""
    read_own(ref, stack)
    values = {ref.key: content.token, _PASSWORD: content.password}
    account = content.account and content.account.model_dump(mode="json", exclude_none=True)
    try:
        apply_secret(
            ref,
            stack,
            {key: value for key, value in values.items() if value is not None},
            annotations={_TARGET: content.target, _ACCOUNT: json.dumps(account, sort_keys=True)},
            labels=_LABELS,
        )
    except SecretAbsent as absent:
        why = f"{absent} Create the namespace first."
        raise NotFound(f"write {ref.label}", why) from None


def delete(ref: SecretKeyRef, stack: Kubeconfig) -> None:
    """Delete the Secret if it is ours."""
    try:
        if read(ref, stack).account is not None:
            delete_secret(ref, stack)
    except SecretAbsent:
        return


def _usable(token: SecretStr | None) -> SecretStr | None:
    """Return None for a text that cannot be a token, so that another one is created."""
    try:
        return token and checked_token(token)
    except InvalidConnection:
        return None


def _optional(content: SecretContent, key: str) -> SecretStr | None:
    try:
        return value_of(content, key)
    except SecretAbsent:
        return None
