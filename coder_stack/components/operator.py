"""The operator of coderd: its access, the license, and what the license allows.

Creates nothing in the cluster, and works with any coderd, also one that another program deployed.
Provisioners and proxies use its `handle`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from coder_stack import conditions
from coder_stack.components.parts.operator_handle import OperatorHandle
from coder_stack.components.parts.status import Status, collect_facts, conditions_of
from coder_stack.conditions import Condition, LicenseFacts
from coder_stack.dynamic.entitlements import Entitlements
from coder_stack.dynamic.license import License
from coder_stack.dynamic.operator_access import OperatorAccess
from coder_stack.dynamic.secret_value import SecretValue
from coder_stack.naming import CODERD_NAME, operator_secret_name, stack_hash
from coder_stack.settings import (
    AccessSettings,
    LicenseSettings,
    PasswordSecret,
    TokenSecret,
)

_COMPONENT = "operator"


@dataclass(frozen=True, kw_only=True)
class OperatorArgs:
    """Arguments of an Operator."""

    connection: Mapping[str, Any]
    """How to reach coderd. Without a `credential` in it, the settings decide where the token is."""
    settings: AccessSettings
    license: LicenseSettings
    namespace: str
    """Default namespace of Secrets in the settings."""
    token: pulumi.Input[str] | None = None
    """A session token of an owner. Without one here or in a Secret, the stack creates one."""
    license_jwt: pulumi.Input[str] | None = None
    needed_features: Sequence[str] = ()
    after: Sequence[pulumi.Resource] = ()
    """Resources to wait for before the first request to coderd."""
    expected_version: str = ""
    """The version that coderd must answer with before anything uses it; empty: any (V2)."""
    expected_deployment: str = ""
    """The deployment that coderd must be; empty: any."""


class Operator(pulumi.ComponentResource):
    """Operator access, the license if the stack has one, and the entitlements."""

    handle: OperatorHandle
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
        credential = credential_of(
            args.settings, self._token_secret(), token_given=token is not None
        )
        self._connection = {"credential": credential, **args.connection}
        self.access = OperatorAccess(
            f"{name}-access",
            connection=self._connection,
            token=token,
            make_token=token is None and args.settings.token_secret is None,
            username=args.settings.username,
            email=args.settings.email,
            password_secret=self._password_secret(),
            owner=stack_hash(pulumi.get_project(), pulumi.get_stack()),
            token_name=args.settings.token_name,
            token_days=args.settings.token_days,
            wait_seconds=args.settings.wait_seconds,
            # A preview finds the version that runs before the update.
            expected_version=None if pulumi.runtime.is_dry_run() else args.expected_version,
            expected_deployment=args.expected_deployment,
            opts=self._child_options(*args.after),
        )
        license_secret = self._license_secret()
        self.license = self._license(license_secret)
        self.entitlements = Entitlements(
            f"{name}-entitlements",
            connection=self._connection,
            deployment_id=self.access.deployment_id,
            # After the license, which changes the entitlements.
            opts=self._child_options(self.access, *([self.license] if self.license else [])),
        )
        self.license_facts = collect_facts(
            LicenseFacts,
            features=self.entitlements.features,
            tier=self.entitlements.tier,
            stale=self.entitlements.stale,
            reason=self.entitlements.reason,
        )
        self.handle = OperatorHandle(
            connection=self._connection,
            deployment_id=self.access.deployment_id,
            license=self.license_facts,
        )
        self.status = self._status(license_secret)
        self.conditions = conditions_of(self.status)
        self.register_outputs({})  # the stack exports them; the state needs them once

    def _token_secret(self) -> dict[str, str]:
        """Return the Secret for a token that the stack creates; no other operator uses it."""
        owner = stack_hash(pulumi.get_project(), pulumi.get_stack(), self._name)
        name = operator_secret_name(CODERD_NAME, owner)
        return {"namespace": self._args.namespace, "name": name}

    def _license(self, secret: SecretValue | None) -> License | None:
        args = self._args
        jwt = secret.value if secret else args.license_jwt
        if jwt is None:
            return None
        return License(
            f"{self._name}-license",
            connection=self._connection,
            jwt=jwt,
            deployment_id=self.access.deployment_id,
            needed_features=list(args.needed_features),
            warn_days=args.license.warn_days,
            opts=self._child_options(self.access),
        )

    def _license_secret(self) -> SecretValue | None:
        ref = self._args.license.secret
        if ref is None:
            return None
        return SecretValue(
            f"{self._name}-license-secret",
            namespace=ref.namespace or self._args.namespace,
            name=ref.name,
            key=ref.key,
            opts=self._child_options(*self._args.after),
        )

    def _password_secret(self) -> dict[str, str] | None:
        ref = self._args.settings.password_secret
        return None if ref is None else _secret_reference(ref, self._args.namespace)

    def _status(self, license_secret: SecretValue | None) -> pulumi.Output[Status]:
        facts: dict[str, pulumi.Input[Any]] = {
            "user": self.access.user,
            "accepted": self.access.accepted,
            "access_reason": self.access.reason,
        }
        if self.license:
            facts["applied"] = self.license.applied
            facts["reason"] = self.license.reason
            facts["message"] = self.license.message
        if license_secret:
            facts["license_secret_reason"] = license_secret.reason
        return collect_facts(OperatorFacts, **facts).apply(self._status_of)

    def _status_of(self, facts: "OperatorFacts") -> Status:
        secret = self._args.settings.token_secret
        every: list[Condition] = []
        if secret:
            where = f"Secret {secret.namespace or self._args.namespace}/{secret.name}"
            every.append(conditions.bootstrap_secret_ready(_COMPONENT, where, facts.access_reason))
        every.append(
            conditions.operator_access_ready(
                _COMPONENT, facts.user, accepted=facts.accepted, reason=facts.access_reason
            )
        )
        if self.license:
            every.append(
                conditions.license_applied(
                    _COMPONENT,
                    applied=facts.applied,
                    reason=facts.reason,
                    message=facts.message,
                    secret_reason=facts.license_secret_reason,
                )
            )
        return Status(conditions=tuple(every))

    def _child_options(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(after))


def credential_of(
    settings: AccessSettings, own_secret: Mapping[str, str], *, token_given: bool
) -> str | dict[str, str]:
    """Return where the operator's token is: the user's Secret, the config, or our own Secret."""
    if settings.token_secret:
        return _secret_reference(settings.token_secret, own_secret["namespace"])
    if token_given:
        return "config"
    return {**own_secret, "key": "token"}


def _secret_reference(ref: TokenSecret | PasswordSecret, namespace: str) -> dict[str, str]:
    """Return the Secret as dynamic resources take it; `namespace` is the default."""
    return {"namespace": ref.namespace or namespace, "name": ref.name, "key": ref.key}


@dataclass(frozen=True, kw_only=True)
class OperatorFacts:
    """What the resources report about operator access and the license."""

    user: str = ""
    accepted: bool = True
    access_reason: str = ""
    applied: bool = False
    reason: str = ""
    message: str = ""
    license_secret_reason: str = ""
