"""What changed about what the license allows, in one sentence (E2). Pure; see causes.py."""

from collections.abc import Mapping
from typing import Any, cast

from coder_stack.features import GRACE_PERIOD, is_entitled
from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.diagnosis.values import few

__all__ = ["entitlements"]


def entitlements(finding: Finding, context: object) -> str | None:
    """Both ways: lost and won; a whole license before single features."""
    before, now = finding.recorded, finding.actual
    if finding.kind == "unknown":
        return f"What the license allows could not be read: {now.get('reason') or 'no answer'}."
    if finding.kind == "missing" or finding.origin == "program":
        return None
    if "stale" in finding.paths:
        return "What the license allows can be read again."
    if "has_license" in finding.paths:
        if now.get("has_license"):
            return f"Coderd has a license now: tier `{now.get('tier')}`."
        return "Coderd has no license any more."
    old, new = _features(before), _features(now)
    lost = [name for name in old if _allowed(old, name) and not _allowed(new, name)]
    won = [name for name in new if _allowed(new, name) and not _allowed(old, name)]
    grace = [name for name in new if _in_grace(new, name) and not _in_grace(old, name)]
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
    named = sorted({path.split(".")[1] for path in finding.paths if path.startswith("features.")})
    return f"The license has other terms for {few(named)}." if named else None


def _features(facts: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return cast("Mapping[str, Mapping[str, Any]]", facts.get("features") or {})


def _allowed(features: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    return is_entitled(features.get(name, {}).get("entitlement"))


def _in_grace(features: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    return features.get(name, {}).get("entitlement") == GRACE_PERIOD
