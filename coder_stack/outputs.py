"""The stack's outputs, for people, `coder-stack status` and stack references.

docs/outputs.md describes each of them. The only secret is the first user's password, which people
need to log in; Pulumi encrypts it. Tokens and keys stay in the state of their resources.
"""

from collections.abc import Mapping
from typing import Any

import pulumi

from coder_stack.components.parts.status import summary_of
from coder_stack.stack import CoderStack


def exports(stack: CoderStack) -> dict[str, pulumi.Input[Any]]:
    """Return all outputs by name, the most interesting first."""
    plane, operator = stack.control_plane, stack.operator
    # Without organizations, the outputs of a stack are those of versions that had none.
    left_out = set[str]() if stack.settings.organizations else {"organizations"}
    password = stack.secrets.initial_password
    access_url = stack.settings.control_plane.access_url or plane.url
    outputs: dict[str, pulumi.Input[Any] | None] = {
        "accessUrl": access_url,
        "admin": {"url": access_url, **_first_user(stack)},
        "adminPassword": None if password is None else pulumi.Output.secret(password),
        "url": plane.url,
        "phase": plane.phase,
        "ready": stack.conditions.apply(lambda every: every[-1]["status"]),
        "readyReplicas": plane.ready_replicas,
        "image": plane.image,
        "version": operator.access.version,
        "deploymentId": operator.access.deployment_id,
        "tier": operator.entitlements.tier,
        "license": _license(stack),
        "entitlements": pulumi.Output.all(
            operator.entitlements.features, operator.entitlements.usage
        ).apply(lambda both: _features(both[0] or {}, both[1] or {})),
        "entitlementWarnings": operator.entitlements.warnings,
        "entitlementErrors": operator.entitlements.errors,
        "entitlementsCheckedAt": operator.entitlements.checked_at,
        "entitlementsStale": operator.entitlements.stale,
        "needs": stack.needs,
        "organizations": [summary_of(each) for each in stack.organization_statuses],
        "provisioners": [
            stack.summary(f"provisioner/{want.name}", each.summary)
            for want, each in zip(stack.settings.provisioners, stack.provisioners, strict=True)
        ],
        "proxies": [
            stack.summary(f"proxy/{want.name}", each.summary)
            for want, each in zip(stack.settings.proxies, stack.proxies, strict=True)
        ],
        "conditions": stack.conditions,
    }
    return {
        name: value for name, value in outputs.items() if name not in left_out and value is not None
    }


def _first_user(stack: CoderStack) -> dict[str, str]:
    """Return who logs in with the password; nobody that a stack with its own token knows."""
    access = stack.settings.access
    if stack.secrets.token is not None or access.token_secret is not None:
        return {}
    return {"username": access.username, "email": access.email}


def _license(stack: CoderStack) -> pulumi.Input[Mapping[str, Any]]:
    """Return status and dates (L8) of the license that this stack uploads, if it does."""
    ours = stack.operator.license
    if ours is None:
        return {"configured": False}
    return {
        "configured": True,
        "applied": ours.applied,
        "reason": ours.reason,
        "uuid": ours.uuid,
        "lastApplied": ours.last_applied,
        "licenseExpires": ours.license_expires,
        "exp": ours.exp,
        "warnDays": stack.settings.license.warn_days,
    }


def _features(
    features: Mapping[str, Mapping[str, Any]], usage: Mapping[str, float]
) -> dict[str, dict[str, Any]]:
    """Add to each feature how much of it is in use, if coderd counts that (E1)."""
    return {
        name: {**facts, **({"actual": int(usage[name])} if name in usage else {})}
        for name, facts in features.items()
    }
