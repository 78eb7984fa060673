"""Conditions: what is known about each part, in four fixed words, from observed facts (S1).

Pure functions from facts to a Condition; no I/O. Messages are stable (no times, no counts that move
by themselves beyond what was asked for, no request ids) and never hold a secret. A reason is a word
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
from coder_stack.features import GRACE_PERIOD, is_entitled

__all__ = [
    "Condition",
    "ConditionReason",
    "LicenseFacts",
    "aggregate",
    "bootstrap_secret_ready",
    "control_plane_ready",
    "daemons_connected",
    "deployment_ready",
    "entitled",
    "license_applied",
    "operator_access_ready",
    "provisioner_key_ready",
    "proxy_healthy",
    "proxy_registered",
    "secret_fault",
    "secret_ready",
]

Status = Literal["True", "False", "Unknown"]
ConditionReason = Literal[
    "AllReady", "Applied", "ChangeDeferred", "Connected", "Entitled", "Found", "GracePeriod",
    "Healthy", "Issued", "LastKnown", "LoggedIn", "NotSeen", "Ready", "Registered",
    "RotationDeferred", "ScaledToZero", "SeveralReasons", "TooFew", "Unhealthy", "Unreachable",
    "Unregistered", "VersionSkew", "Written",
]  # fmt: skip


class Condition(BaseModel):
    """As in Kubernetes, with the component that it is about."""

    model_config = ConfigDict(frozen=True)

    component: str
    type: str
    status: Status
    reason: str
    message: str = ""


def control_plane_ready(component: str, wanted: int, ready: int) -> Condition:
    """Every wanted pod of coderd is ready (CP4)."""
    return _pods("ControlPlaneReady", component, wanted, ready)


def deployment_ready(component: str, wanted: int, ready: int, *, gated: bool) -> Condition:
    """Every wanted pod is ready; behind a closed gate none is wanted."""
    if gated:
        return _not_entitled("DeploymentReady", component, "No pod runs until it is entitled.")
    return _pods("DeploymentReady", component, wanted, ready)


def bootstrap_secret_ready(component: str, where: str, reason: str) -> Condition:
    """The Secret with the operator's token could be used (CP6)."""
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
    """Coderd accepts the operator's token."""
    kind = "OperatorAccessReady"
    if not user:
        return _absent(kind, component, "Nobody of ours is logged in; the next update does it.")
    if not accepted:
        why = f"The token of {user} is missing, or coderd refuses it."
        return _bad(kind, component, reason or Reason.FORBIDDEN, why)
    return _good(kind, component, "LoggedIn", f"As {user}.")


def license_applied(
    component: str, *, applied: bool, reason: str, message: str, secret_reason: str = ""
) -> Condition:
    """Our license is in coderd (L1-L7).

    `secret_reason`: why the Secret that the license comes from could not be used. It comes first:
    what coderd holds is then no longer what the stack declares.
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
        why = "The license of this stack is not in coderd; the next update applies it."
        return _absent(kind, component, why)
    return _bad(kind, component, reason, message)


@dataclass(frozen=True, kw_only=True)
class LicenseFacts:
    """What is known of the license: those outputs of Entitlements that decide anything (E3-E6)."""

    features: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Any])
    tier: str = "unknown"
    stale: bool = False
    reason: str = ""

    def allows(self, feature: str) -> bool:
        """Grace included."""
        return is_entitled(self.features.get(feature, {}).get("entitlement"))


def entitled(kind: str, component: str, feature: str, license_: LicenseFacts) -> Condition:
    """The license allows the feature."""
    reason = license_.reason
    if license_.tier == "unknown":
        why = "What the license allows could not be read yet."
        said = reason or Reason.ENTITLEMENTS_QUERY_FAILED
        return _bad(kind, component, said, why, "Unknown")
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


def provisioner_key_ready(
    component: str,
    *,
    provisioned: bool,
    name: str,
    reason: str,
    deferred: Sequence[str],
    allowed: bool = False,
) -> Condition:
    """There is a key in coderd, and it is the one that the config asks for.

    `allowed`: the license would let one be made, so one that is not there is gone.
    """
    kind = "ProvisionerKeyReady"
    if allowed and not provisioned:
        return _absent(kind, component, "The key is gone; the next update makes another.")
    if not provisioned:
        return _not_entitled(kind, component, "No key is made until it is entitled.")
    if deferred or reason:
        return _left_alone(kind, component, f"Key {name}", "RotationDeferred", deferred, reason)
    return _good(kind, component, "Issued", f"Key {name}.")


def secret_fault(data: Mapping[str, str] | None, key: str, sha256: str | None) -> str:
    """Compare what a Secret holds with the hash of what coderd gave out; empty: the same (S2).

    NotFound: coderd has given out nothing, so there is nothing to compare with.
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
    """The Secret holds what coderd gave out; `fault` as from `secret_fault`."""
    if not provisioned:
        return _not_entitled(kind, component, f"Secret {name} is empty until it is entitled.")
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
    """Coderd has seen the daemons with their key (P3)."""
    kind = "DaemonsConnected"
    if reason == Reason.NOT_ENTITLED:
        return _not_entitled(kind, component, "No daemon is waited for until it is entitled.")
    if reason == Reason.NOT_FOUND:
        why = "Coderd knows no such organization; see its provisioner key."
        return _bad(kind, component, reason, why, status="Unknown")
    if not connected:
        why = f"Coderd has lately seen fewer daemons with this key than wanted, {minimum}."
        too_few: ConditionReason = "TooFew"
        return _bad(kind, component, reason or too_few, why)
    if skewed:
        why = f"Connected, but not with coderd's version: {', '.join(sorted(skewed))}."
        return _good(kind, component, "VersionSkew", why)
    return _good(kind, component, "Connected", f"At least {minimum}.")


def proxy_registered(
    component: str,
    *,
    provisioned: bool,
    reason: str,
    deferred: Sequence[str],
    allowed: bool = False,
) -> Condition:
    """The proxy is known to coderd. `allowed`: as above."""
    kind = "ProxyRegistered"
    if allowed and not provisioned:
        return _absent(kind, component, "It is gone; the next update registers it again.")
    if not provisioned:
        return _not_entitled(kind, component, "It is not registered until it is entitled.")
    if deferred or reason:
        who = "The registration"
        return _left_alone(kind, component, who, "ChangeDeferred", deferred, reason)
    return _good(kind, component, "Registered", "Known to coderd.")


def proxy_healthy(component: str, *, provisioned: bool, health: str) -> Condition:
    """What coderd says about the running proxy (W1)."""
    kind = "ProxyHealthy"
    if not provisioned:
        return _not_entitled(kind, component, "No proxy runs until it is entitled.")
    if health == "ok":
        return _good(kind, component, "Healthy", "Coderd reaches it.")
    if health in ("", "unknown", "unregistered"):
        why = "It has not reported to coderd yet."
        said: ConditionReason = "Unregistered" if health == "unregistered" else "NotSeen"
        return _bad(kind, component, said, why, "Unknown")
    why = f"Coderd calls it {health}."
    return _bad(kind, component, health.capitalize(), why)


def aggregate(conditions: Iterable[Condition]) -> Condition:
    """Ready if everything is; what is False outweighs what is Unknown."""
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


def _left_alone(
    kind: str,
    component: str,
    who: str,
    put_off: ConditionReason,
    deferred: Sequence[str],
    reason: str,
) -> Condition:
    """There, but not as the config asks: it waits for a license, or coderd did not answer."""
    if deferred:
        waits = ", ".join(sorted(deferred))
        why = f"{who} stays; put off until it is entitled again: {waits}."
        return _bad(kind, component, put_off, why)
    return _bad(kind, component, reason, f"{who} was left as it is: {reason}.", "Unknown")


def _good(kind: str, component: str, reason: ConditionReason, message: str) -> Condition:
    return Condition(component=component, type=kind, status="True", reason=reason, message=message)


def _bad(
    kind: str, component: str, reason: str, message: str, status: Status = "False"
) -> Condition:
    return Condition(component=component, type=kind, status=status, reason=reason, message=message)


def _not_entitled(kind: str, component: str, message: str) -> Condition:
    return _bad(kind, component, Reason.NOT_ENTITLED, message)


def _absent(kind: str, component: str, message: str) -> Condition:
    return _bad(kind, component, Reason.NOT_FOUND, message)
