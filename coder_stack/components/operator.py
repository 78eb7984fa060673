"""The operator in coderd: a way in, our license, and what it allows; everything else follows it.

Brings nothing into the cluster. Works on any coderd that can be reached, also on one that another
program deployed. Leaves alone what a feature is needed for: that is decided by who asks the handle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from coder_stack import conditions
from coder_stack.components.parts.operator_handle import OperatorHandle
from coder_stack.components.parts.status import Status, conditions_of, observed
from coder_stack.conditions import Condition, LicenseFacts
from coder_stack.dynamic.entitlements import Entitlements
from coder_stack.dynamic.license import License
from coder_stack.dynamic.operator_access import OperatorAccess
from coder_stack.dynamic.secret_value import SecretValue
from coder_stack.naming import CODERD_NAME, operator_secret_name, stack_hash
from coder_stack.settings import (
    AccessSettings,
    LicenseSecret,
    LicenseSettings,
    PasswordSecret,
    TokenSecret,
)

__all__ = ["Operator", "OperatorArgs", "credential_of"]

_NAME = "operator"


@dataclass(frozen=True, kw_only=True)
class OperatorArgs:
    """How to enter, with what; `after` must be there before coderd is asked anything."""

    connection: Mapping[str, Any]
    """The way to coderd. Without a `credential` in it, the settings decide where the token is."""
    settings: AccessSettings
    license: LicenseSettings
    namespace: str
    """Of Secrets for which the settings name none."""
    token: pulumi.Input[str] | None = None
    """A session token of an owner. Without one here or in a Secret, one is made."""
    license_jwt: pulumi.Input[str] | None = None
    needed_features: Sequence[str] = ()
    after: Sequence[pulumi.Resource] = ()


class Operator(pulumi.ComponentResource):
    """Operator access, the license if there is one, and the entitlements."""

    handle: OperatorHandle
    """What provisioners and proxies need of it."""
    access: OperatorAccess
    license: License | None
    entitlements: Entitlements
    license_facts: pulumi.Output[LicenseFacts]
    status: pulumi.Output[Status]
    conditions: pulumi.Output[list[dict[str, str]]]

    def __init__(
        self, name: str, args: OperatorArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:Operator", name, None, opts)
        self._name = name
        self._args = args
        token = None if args.settings.token_secret else args.token
        where = credential_of(args.settings, self._home(), token_given=token is not None)
        self._connection = {"credential": where, **args.connection}
        self.access = OperatorAccess(
            f"{name}-access",
            connection=self._connection,
            token=token,
            make_token=token is None and args.settings.token_secret is None,
            username=args.settings.username,
            email=args.settings.email,
            password_secret=self._password_place(),
            owner=stack_hash(pulumi.get_project(), pulumi.get_stack()),
            token_name=args.settings.token_name,
            token_days=args.settings.token_days,
            wait_seconds=args.settings.wait_seconds,
            opts=self._child(*args.after),
        )
        stored = self._value("license", args.license.secret)
        self.license = self._license(stored)
        self.entitlements = Entitlements(
            f"{name}-entitlements",
            connection=self._connection,
            deployment_id=self.access.deployment_id,
            # After the license: what is read then is what the license has changed.
            opts=self._child(self.access, *([self.license] if self.license else [])),
        )
        self.license_facts = observed(
            LicenseFacts,
            features=self.entitlements.features,
            tier=self.entitlements.tier,
            stale=self.entitlements.stale,
            reason=self.entitlements.reason,
        )
        self.handle = OperatorHandle(
            connection=self._connection,
            deployment_id=self.access.deployment_id,
            version=self.access.version,
            license=self.license_facts,
        )
        self.status = self._status(stored)
        self.conditions = conditions_of(self.status)
        self.register_outputs({"conditions": self.conditions})

    def _home(self) -> dict[str, str]:
        """The Secret for a token that is made: no other operator's, in whichever stack."""
        owner = stack_hash(pulumi.get_project(), pulumi.get_stack(), self._name)
        name = operator_secret_name(CODERD_NAME, owner)
        return {"namespace": self._args.namespace, "name": name}

    def _license(self, stored: SecretValue | None) -> License | None:
        args = self._args
        jwt = stored.value if stored else args.license_jwt
        if jwt is None:
            return None
        return License(
            f"{self._name}-license",
            connection=self._connection,
            jwt=jwt,
            deployment_id=self.access.deployment_id,
            needed_features=list(args.needed_features),
            warn_days=args.license.warn_days,
            opts=self._child(self.access),
        )

    def _value(self, what: str, ref: LicenseSecret | None) -> SecretValue | None:
        if ref is None:
            return None
        return SecretValue(
            f"{self._name}-{what}-secret",
            namespace=ref.namespace or self._args.namespace,
            name=ref.name,
            key=ref.key,
            opts=self._child(*self._args.after),
        )

    def _password_place(self) -> dict[str, str] | None:
        ref = self._args.settings.password_secret
        return None if ref is None else secret_place(ref, self._args.namespace)

    def _status(self, stored: SecretValue | None) -> pulumi.Output[Status]:
        facts: dict[str, pulumi.Input[Any]] = {
            "user": self.access.user,
            "accepted": self.access.accepted,
            "access_reason": self.access.reason,
        }
        if self.license:
            facts["applied"] = self.license.applied
            facts["reason"] = self.license.reason
            facts["message"] = self.license.message
        if stored:
            facts["license_secret_reason"] = stored.reason
        return observed(_Seen, **facts).apply(self._judged)

    def _judged(self, found: "_Seen") -> Status:
        secret = self._args.settings.token_secret
        every: list[Condition] = []
        if secret:
            where = f"Secret {secret.namespace or self._args.namespace}/{secret.name}"
            every.append(conditions.bootstrap_secret_ready(_NAME, where, found.access_reason))
        every.append(
            conditions.operator_access_ready(
                _NAME, found.user, accepted=found.accepted, reason=found.access_reason
            )
        )
        if self.license:
            every.append(
                conditions.license_applied(
                    _NAME,
                    applied=found.applied,
                    reason=found.reason,
                    message=found.message,
                    secret_reason=found.license_secret_reason,
                )
            )
        return Status(conditions=tuple(every))

    def _child(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(after))


def credential_of(
    settings: AccessSettings, home: Mapping[str, str], *, token_given: bool
) -> str | dict[str, str]:
    """Where the operator's token is: in a Secret of the user's, in the config, or in our own."""
    if settings.token_secret:
        return secret_place(settings.token_secret, home["namespace"])
    if token_given:
        return "config"
    return {**home, "key": "token"}


def secret_place(ref: TokenSecret | PasswordSecret, namespace: str) -> dict[str, str]:
    """A Secret of the config as dynamic resources take it; `namespace` unless it names one."""
    return {"namespace": ref.namespace or namespace, "name": ref.name, "key": ref.key}


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """Facts about the operator's access and the license."""

    user: str = ""
    accepted: bool = True
    access_reason: str = ""
    applied: bool = False
    reason: str = ""
    message: str = ""
    license_secret_reason: str = ""
