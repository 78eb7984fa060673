"""What coderd's licenses allow."""

from collections.abc import Mapping
from typing import Any

from coder_stack.descriptors.descriptor import Descriptor, Drift, StackFacts, few
from coder_stack.features import GRACE_PERIOD, is_entitled


def _cause(drift: Drift, stack: StackFacts) -> str | None:
    before, now = drift.declared, drift.actual
    if drift.kind == "unknown":
        return f"What the license allows could not be read: {now.get('reason') or 'no answer'}."
    if drift.kind == "missing" or drift.origin == "plan":
        return None
    if "stale" in drift.paths:
        return "What the license allows can be read again."
    if "has_license" in drift.paths:
        if now.get("has_license"):
            return f"Coderd has a license now: tier `{now.get('tier')}`."
        return "Coderd has no license any more."
    return _features(drift, _entitlements(before), _entitlements(now))


def _features(drift: Drift, old: Mapping[str, str], new: Mapping[str, str]) -> str | None:
    lost = [name for name in old if is_entitled(old[name]) and not is_entitled(new.get(name))]
    won = [name for name in new if is_entitled(new[name]) and not is_entitled(old.get(name))]
    grace = [name for name in new if new[name] == GRACE_PERIOD != old.get(name)]
    said = [
        f"{words} {few(sorted(names))}"
        for words, names in (
            ("no longer allows", lost),
            ("now allows", won),
            ("is in its grace period for", grace),
        )
        if names
    ]
    if said:
        return f"The license {' and '.join(said)}."
    listed = sorted({path.split(".")[1] for path in drift.paths if path.startswith("features.")})
    return f"The license has other terms for {few(listed)}." if listed else None


def _entitlements(facts: Mapping[str, Any]) -> dict[str, str]:
    features: Mapping[str, Mapping[str, Any]] = facts.get("features") or {}
    return {name: str(each.get("entitlement")) for name, each in features.items()}


ENTITLEMENTS = Descriptor(name="Entitlements", noun="entitlements", cause=_cause)
