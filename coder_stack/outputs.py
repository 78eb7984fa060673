"""The stack's outputs, for people and stack references: as few lines whatever the stack's size.

What grows with the config is in the outputs of the component CoderStack, for `coder-stack status`
and `coder-stack outputs`. docs/outputs.md describes both. The only secret is the first user's
password, which people need to log in; Pulumi encrypts it. Tokens and keys stay in the state of
their resources.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from coder_stack.counting import counted
from coder_stack.stack import CoderStack


def exports(stack: CoderStack) -> dict[str, pulumi.Input[Any]]:
    """Return all outputs by name, the most interesting first."""
    plane, operator = stack.control_plane, stack.operator
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
        "entitlementWarnings": operator.entitlements.warnings,
        "entitlementErrors": operator.entitlements.errors,
        "entitlementsCheckedAt": operator.entitlements.checked_at,
        "entitlementsStale": operator.entitlements.stale,
        "conditions": stack.conditions.apply(unmet),
    }
    return {name: value for name, value in outputs.items() if value is not None}


def unmet(conditions: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the conditions that are not True; `Ready`, the last one, sums them up.

    Those of many parts with one reason are one entry, with the first one's message.
    """
    alike = dict[tuple[str, ...], list[dict[str, str]]]()
    for each in conditions:
        if each["status"] != "True":
            kind = (each["type"], each["status"], each["reason"])
            alike.setdefault(kind, []).append(each)
    return [_summed(each) for each in alike.values()]


def _summed(alike: Sequence[dict[str, str]]) -> dict[str, str]:
    first, *others = alike
    if not others:
        return first
    return {**first, "component": f"{first['component']} and {counted(len(others), 'other')}"}


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
