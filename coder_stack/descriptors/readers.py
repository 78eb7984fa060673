"""Resources that only read: nothing of them is in coderd, and none of them holds a secret."""

from coder_stack.descriptors.descriptor import Descriptor, Drift, StackFacts


def _gate_cause(drift: Drift, stack: StackFacts) -> str | None:
    feature = drift.declared.get("feature") or drift.actual.get("feature")
    if drift.origin == "plan" or not feature:
        return None
    allows = "now allows" if drift.actual.get("entitled") else "no longer allows"
    return f"The license {allows} {feature}."


DAEMONS_CONNECTED = Descriptor(
    name="DaemonsConnected",
    noun="provisioner daemons",
    derived=("revision", "rollout", "key_id", "minimum", "expected_version", "enabled"),
)
FEATURE_GATE = Descriptor(
    name="FeatureGate",
    noun="feature gate",
    derived=("entitled", "open", "reason"),
    cause=_gate_cause,
)
PROXY_HEALTH = Descriptor(
    name="ProxyHealth",
    noun="workspace proxy's health",
    derived=("revision", "proxy_id"),
)
