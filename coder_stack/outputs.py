"""What the stack exports: for people, for `coder-stack status`, and for other stacks to refer to.

docs/outputs.md describes each; a test keeps the two lists equal. No secret is among them: tokens,
keys and passwords stay in the state of their resources.
"""

from collections.abc import Mapping
from typing import Any

import pulumi

from coder_stack.settings import Settings
from coder_stack.stack import CoderStack

__all__ = ["exports"]


def exports(stack: CoderStack, settings: Settings) -> dict[str, pulumi.Input[Any]]:
    """Name → value, in the order in which they are worth reading."""
    plane, operator = stack.control_plane, stack.operator
    return {
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
        "provisioners": [each.summary for each in stack.provisioners],
        "proxies": [each.summary for each in stack.proxies],
        "conditions": stack.conditions,
        # What is in force, defaults included, in the words of the config file.
        "settings": settings.model_dump(mode="json", by_alias=True, exclude_none=True),
    }


def _license(stack: CoderStack) -> pulumi.Input[Mapping[str, Any]]:
    """Both dates of L8; nothing is said of a license that this stack does not bring."""
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
    }


def _features(
    features: Mapping[str, Mapping[str, Any]], usage: Mapping[str, float]
) -> dict[str, dict[str, Any]]:
    """Each feature with how much of it is in use, if coderd counts that (E1)."""
    return {
        name: {**facts, **({"actual": int(usage[name])} if name in usage else {})}
        for name, facts in features.items()
    }
