"""Ignore rules of the config, laid over findings (D2). Pure; the day is an argument.

A rule names a resource by its URN or type and, if it wants, properties. It never hides anything:
what it covers is in the report with the rule's reason, and does not count. Once its last day is
over it covers nothing, and is listed. A repair leaves alone what rules cover whole.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.engine.events import EngineRun, Step
from coder_stack.operate.report.model import Difference, ExpiredRule
from coder_stack.settings import IgnoreRule

__all__ = ["apply", "expired", "spared"]


def expired(rules: Iterable[IgnoreRule], today: date) -> tuple[ExpiredRule, ...]:
    """Rules whose last day was before today."""
    return tuple(
        ExpiredRule(resource=rule.resource, reason=rule.reason, until=rule.until)
        for rule in rules
        if rule.until < today
    )


def apply(
    rules: Sequence[IgnoreRule], finding: Finding, today: date
) -> list[tuple[Finding, str | None]]:
    """The finding, each part of it with the reason why it does not count, or None."""
    live = _live(rules, finding, today)
    whole = next((rule.reason for rule in live if not rule.properties), None)
    if whole is not None or not finding.properties:
        return [(finding, whole)]
    parts: dict[str | None, list[Difference]] = {}
    for each in finding.properties:
        reason = next((r.reason for r in live if _covers(r.properties, each.path)), None)
        parts.setdefault(reason, []).append(each)
    return [(finding.with_only(tuple(some)), reason) for reason, some in parts.items()]


def spared(rules: Sequence[IgnoreRule], run: EngineRun, today: date) -> tuple[str, ...]:
    """URNs of resources to which a repair has nothing to do but what rules cover.

    Not one that changes along with another, such as a Deployment whose key is made anew: left as it
    is, it would not fit any more.
    """
    return tuple(
        urn
        for urn, plan in run.planned.items()
        if _is_repair(plan, run.refreshed.get(urn))
        and not plan.may_follow
        and _covered(_live(rules, plan, today), plan)
    )


def _is_repair(plan: Step, seen: Step | None) -> bool:
    return plan.op == "update" or (plan.op == "create" and seen is not None and seen.new is None)


def _covered(live: Sequence[IgnoreRule], plan: Step) -> bool:
    if any(not rule.properties for rule in live):
        return True
    return bool(plan.paths) and all(
        any(_covers(rule.properties, path) for rule in live) for path in plan.paths
    )


def _live(rules: Sequence[IgnoreRule], what: Finding | Step, today: date) -> list[IgnoreRule]:
    return [rule for rule in rules if rule.until >= today and _names(rule.resource, what)]


def _names(pattern: str, what: Finding | Step) -> bool:
    return _matches(pattern, what.urn) or _matches(pattern, what.type)


def _covers(patterns: Iterable[str], path: str) -> bool:
    """A path covers what lies below it: `spec` covers `spec.replicas`, not `specs`."""
    return any(_matches(pattern, path, below=True) for pattern in patterns)


def _matches(pattern: str, text: str, *, below: bool = False) -> bool:
    """`*` stands for anything; every other character for itself."""
    wanted = ".*".join(map(re.escape, pattern.split("*")))
    end = r"(?:[.\[].*)?" if below else ""
    return re.fullmatch(wanted + end, text, re.DOTALL) is not None
