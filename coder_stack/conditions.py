"""Conditions of components, as pure functions of observed facts (S1).

Messages are stack outputs: they change only with the facts (no times, no request ids) and never
contain a secret, and a new wording shows in the next preview of every stack. A reason is a Reason
of coderd/reasons.py or a ConditionReason; docs/reasons.md explains both.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from coder_stack.coderd.reasons import Reason
from coder_stack.coderd.versions import outside_range
from coder_stack.features import GRACE_PERIOD, is_entitled

ConditionStatus = Literal["True", "False", "Unknown"]
ConditionReason = Literal[
    "AllReady", "Applied", "ChangeDeferred", "ClusterLeftOut", "Connected", "Created", "Drifted",
    "Entitled", "Found", "GracePeriod", "Healthy", "Issued", "LastKnown", "LoggedIn", "NotSeen",
    "Ready", "Registered", "RotationDeferred", "ScaledToZero", "SeveralReasons", "TooFew",
    "Unhealthy", "Unreachable", "Unregistered", "VersionSkew", "Written",
]  # fmt: skip


class Condition(BaseModel):
    """A condition as in Kubernetes, with the component that it is about."""

    model_config = ConfigDict(frozen=True)

    component: str
    type: str
    status: ConditionStatus
    reason: str
    message: str = ""


def control_plane_ready(component: str, wanted: int, ready: int) -> Condition:
    """Judge whether every wanted pod of coderd is ready (CP4)."""
    return _pods("ControlPlaneReady", component, wanted, ready)


def with_version(condition: Condition, version: str) -> Condition:
    """Add to ControlPlaneReady that coderd's version was not tried; its status stays (V1)."""
    untried = outside_range(version)
    if condition.type != "ControlPlaneReady" or not untried:
        return condition
    return condition.model_copy(update={"message": f"{condition.message} {untried}"})


@dataclass(frozen=True, kw_only=True)
class DatabaseFacts:
    """What CloudNativePG reports about coderd's database."""

    exists: bool = False
    ready: bool = False
    ready_instances: int = 0
    phase: str = ""


def database_ready(component: str, name: str, wanted: int, facts: DatabaseFacts) -> Condition:
    """Judge whether the operator calls the Cluster ready, with every wanted instance."""
    kind = "DatabaseReady"
    if not facts.exists:
        why = f"Cluster {name} does not exist; the next update creates an empty one."
        return _absent(kind, component, why)
    seen = f"{min(facts.ready_instances, wanted)} of {wanted} instances are ready."
    if facts.ready and facts.ready_instances >= wanted:
        return _good(kind, component, "Ready", seen)
    return _bad(kind, component, Reason.PENDING, f"{seen} Phase: {facts.phase or 'none yet'}.")


def deployment_ready(component: str, wanted: int, ready: int, *, may_run: bool) -> Condition:
    """Judge whether every wanted pod is ready; none is wanted before the license allows them."""
    if not may_run:
        return _not_entitled("DeploymentReady", component, "No pod runs without entitlement.")
    return _pods("DeploymentReady", component, wanted, ready)


def bootstrap_secret_ready(component: str, where: str, reason: str) -> Condition:
    """Judge whether the Secret with the operator's token could be used (CP6)."""
    kind = "BootstrapSecretReady"
    if reason == Reason.SECRET_MISSING:
        why = f"{where} is missing, lacks its key, or holds nothing."
        return _bad(kind, component, reason, why)
    if reason:
        return _bad(kind, component, reason, f"{where} holds a token that coderd refuses.")
    return _good(kind, component, "Found", f"{where} holds a token.")


def operator_access_ready(
    component: str, user: str, *, accepted: bool = True, reason: str = ""
) -> Condition:
    """Judge whether coderd accepts the operator's token."""
    kind = "OperatorAccessReady"
    if not user:
        return _absent(kind, component, "There is no operator access; the next update creates it.")
    if not accepted:
        why = f"The token of {user} is missing, or coderd refuses it."
        return _bad(kind, component, reason or Reason.FORBIDDEN, why)
    return _good(kind, component, "LoggedIn", f"As {user}.")


def license_applied(
    component: str, *, applied: bool, reason: str, message: str, secret_reason: str = ""
) -> Condition:
    """Judge whether coderd has the stack's license (L1-L7).

    `secret_reason` says why the Secret with the license could not be used. It comes first, because
    what coderd has may then not be what the stack declares.
    """
    kind = "LicenseApplied"
    if secret_reason:
        why = "The Secret with the license is missing, lacks its key, or holds nothing."
        if secret_reason == Reason.SECRET_MISSING:
            return _bad(kind, component, secret_reason, why)
        why = "The Secret with the license could not be read."
        return _bad(kind, component, secret_reason, why, "Unknown")
    if applied:
        return _good(kind, component, "Applied", "The license of this stack is in coderd.")
    if not reason:
        why = "Coderd does not have the license of this stack; the next update uploads it."
        return _absent(kind, component, why)
    return _bad(kind, component, reason, message)


@dataclass(frozen=True, kw_only=True)
class LicenseFacts:
    """What Entitlements reports about the license (E3-E6)."""

    features: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Any])
    tier: str = "unknown"
    stale: bool = False
    reason: str = ""

    def allows(self, feature: str) -> bool:
        """Tell whether the license allows the feature, grace included."""
        return is_entitled(self.features.get(feature, {}).get("entitlement"))


def feature_entitled(kind: str, component: str, feature: str, license_: LicenseFacts) -> Condition:
    """Judge whether the license allows the feature."""
    reason = license_.reason
    if license_.tier == "unknown":
        why = "The entitlements could not be read yet."
        return _bad(kind, component, reason or Reason.ENTITLEMENTS_QUERY_FAILED, why, "Unknown")
    if not license_.allows(feature):
        if reason == Reason.NOT_SUPPORTED:
            why = "This build of coderd has no licensed features."
            return _bad(kind, component, reason, why)
        if license_.stale:
            why = f"The license did not allow {feature}, as last known: {reason}."
            return _not_entitled(kind, component, why)
        return _not_entitled(kind, component, f"The license does not allow {feature}.")
    if license_.features[feature].get("entitlement") == GRACE_PERIOD:
        return _good(kind, component, "GracePeriod", f"{feature} ends soon: renew the license.")
    if license_.stale:
        return _good(kind, component, "LastKnown", f"{feature}, as last known: {reason}.")
    return _good(kind, component, "Entitled", f"The license allows {feature}.")


@dataclass(frozen=True, kw_only=True)
class ObjectFacts:
    """What its resource reports about an object that needs a licensed feature."""

    provisioned: bool = False
    reason: str = ""
    deferred: Sequence[str] = ()


def provisioner_key_ready(
    component: str, facts: ObjectFacts, name: str, *, allowed: bool = False
) -> Condition:
    """Judge whether coderd has the key that the config asks for.

    `allowed` says that the license allows one, so a key that does not exist was deleted.
    """
    return _object_ready(
        ("ProvisionerKeyReady", component, f"Key {name}"),
        facts,
        absent="The key was deleted; the next update creates another." if allowed else "",
        closed="No key is created without entitlement.",
        deferred="RotationDeferred",
        good=("Issued", f"Key {name}."),
    )


def proxy_registered(component: str, facts: ObjectFacts, *, allowed: bool = False) -> Condition:
    """Judge whether the proxy is registered; `allowed` as in `provisioner_key_ready`."""
    return _object_ready(
        ("ProxyRegistered", component, "The registration"),
        facts,
        absent="The proxy was deleted; the next update registers it." if allowed else "",
        closed="The proxy is not registered without entitlement.",
        good=("Registered", "Known to coderd."),
    )


def organization_ready(component: str, facts: ObjectFacts, *, allowed: bool = False) -> Condition:
    """Judge whether it is in coderd; `allowed` as in `provisioner_key_ready`."""
    return _object_ready(
        ("OrganizationReady", component, "The organization"),
        facts,
        absent="The organization was deleted; the next update creates it." if allowed else "",
        closed="The organization is not created without entitlement.",
        good=("Created", "Known to coderd."),
    )


def secret_fault(data: Mapping[str, str] | None, key: str, sha256: str | None) -> str:
    """Compare a Secret with the hash of what coderd gave out; return a reason, or empty (S2).

    NotFound means that coderd has given out nothing to compare with.
    """
    if not sha256:
        return Reason.NOT_FOUND
    try:
        held = base64.b64decode((data or {}).get(key) or "", validate=True)
    except (binascii.Error, ValueError):
        return Reason.SECRET_CHANGED
    if not held:
        return Reason.SECRET_MISSING
    return "" if hashlib.sha256(held).hexdigest() == sha256 else Reason.SECRET_CHANGED


def secret_ready(
    kind: str, component: str, name: str, *, provisioned: bool, fault: str = ""
) -> Condition:
    """Judge whether the Secret holds what coderd gave out; `fault` is from `secret_fault`."""
    if not provisioned:
        return _not_entitled(kind, component, f"Secret {name} is empty without entitlement.")
    if fault == Reason.NOT_FOUND:
        why = f"Coderd has given out nothing that Secret {name} could hold."
        return _bad(kind, component, fault, why, "Unknown")
    if fault == Reason.SECRET_MISSING:
        why = f"Secret {name} is missing, lacks its key, or holds nothing."
        return _bad(kind, component, fault, why)
    if fault:
        why = f"Secret {name} holds something else than what coderd gave out."
        return _bad(kind, component, fault, why)
    return _good(kind, component, "Written", f"Secret {name}.")


def daemons_connected(
    component: str, *, connected: bool, minimum: int, reason: str, skewed: Sequence[str]
) -> Condition:
    """Judge whether enough daemons are connected with their key (P3)."""
    kind = "DaemonsConnected"
    if reason == Reason.NOT_ENTITLED:
        return _not_entitled(kind, component, "No daemon runs without entitlement.")
    if reason == Reason.NOT_FOUND:
        why = "Coderd has no such organization; see the provisioner key."
        return _bad(kind, component, reason, why, status="Unknown")
    if not connected:
        why = f"Fewer daemons are connected with this key than wanted ({minimum})."
        too_few: ConditionReason = "TooFew"
        return _bad(kind, component, reason or too_few, why)
    if skewed:
        why = f"Connected, but not with coderd's version: {', '.join(sorted(skewed))}."
        return _good(kind, component, "VersionSkew", why)
    return _good(kind, component, "Connected", f"At least {minimum}.")


def proxy_healthy(component: str, *, provisioned: bool, health: str, report: str = "") -> Condition:
    """Judge what coderd reports about the running proxy, in its own words (W1, W2)."""
    kind = "ProxyHealthy"
    if not provisioned:
        return _not_entitled(kind, component, "No proxy runs without entitlement.")
    if health == "ok":
        return _good(kind, component, "Healthy", "Coderd reaches it.")
    if health in ("", "unknown", "unregistered"):
        why = "The proxy has not reported to coderd yet."
        said: ConditionReason = "Unregistered" if health == "unregistered" else "NotSeen"
        return _bad(kind, component, said, why, "Unknown")
    why = f"Coderd reports the proxy as {health}{f': {report}' if report else '.'}"
    return _bad(kind, component, health.capitalize(), why)


def aggregate(conditions: Iterable[Condition]) -> Condition:
    """Summarize all conditions as `Ready`; False outweighs Unknown."""
    every = list(conditions)
    for status in ("False", "Unknown"):
        found = [each for each in every if each.status == status]
        if found:
            reasons = sorted({each.reason for each in found})
            named = ", ".join(sorted(f"{each.component}/{each.type}" for each in found))
            several: ConditionReason = "SeveralReasons"
            return Condition(
                component="stack", type="Ready", status=status,
                reason=reasons[0] if len(reasons) == 1 else several,
                message=f"Not ready: {named}.",
            )  # fmt: skip
    return _good("Ready", "stack", "AllReady", "Every condition holds.")


def _pods(kind: str, component: str, wanted: int, ready: int) -> Condition:
    if wanted == 0:
        scaled: ConditionReason = "ScaledToZero"
        return _bad(kind, component, scaled, "Scaled to zero by the config.")
    if ready >= wanted:
        return _good(kind, component, "Ready", f"{wanted} of {wanted} pods are ready.")
    why = f"{ready} of {wanted} pods are ready."
    return _bad(kind, component, Reason.PENDING, why)


def _object_ready(
    about: tuple[str, str, str],
    facts: ObjectFacts,
    *,
    absent: str,
    closed: str,
    good: tuple[ConditionReason, str],
    deferred: ConditionReason = "ChangeDeferred",
) -> Condition:
    """Judge an object that needs a licensed feature; `about` is kind, component and the object."""
    kind, component, who = about
    if not facts.provisioned:
        return (
            _absent(kind, component, absent) if absent else _not_entitled(kind, component, closed)
        )
    if facts.deferred:
        waits = ", ".join(sorted(facts.deferred))
        why = f"{who} is kept; deferred until the license allows it again: {waits}."
        return _bad(kind, component, deferred, why)
    if facts.reason:
        why = f"{who} could not be checked: {facts.reason}."
        return _bad(kind, component, facts.reason, why, "Unknown")
    return _good(kind, component, *good)


def _good(kind: str, component: str, reason: ConditionReason, message: str) -> Condition:
    return Condition(component=component, type=kind, status="True", reason=reason, message=message)


def _bad(
    kind: str, component: str, reason: str, message: str, status: ConditionStatus = "False"
) -> Condition:
    return Condition(component=component, type=kind, status=status, reason=reason, message=message)


def _not_entitled(kind: str, component: str, message: str) -> Condition:
    return _bad(kind, component, Reason.NOT_ENTITLED, message)


def _absent(kind: str, component: str, message: str) -> Condition:
    return _bad(kind, component, Reason.NOT_FOUND, message)
