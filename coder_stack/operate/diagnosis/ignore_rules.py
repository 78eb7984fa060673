"""Apply the config's ignore rules to findings (D2). Pure; today's date is an argument.

A rule names a resource by its URN or type, and optionally properties. What it covers stays in the
report with the rule's reason, but does not count. An expired rule covers nothing, and the report
lists it. A repair leaves out resources that rules cover entirely.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.engine.events import EngineRun, Step
from coder_stack.operate.report.model import Difference, ExpiredRule
from coder_stack.settings import IgnoreRule


def expired(rules: Iterable[IgnoreRule], today: date) -> tuple[ExpiredRule, ...]:
    """Return the rules whose last day was before today."""
    return tuple(
        ExpiredRule(resource=rule.resource, reason=rule.reason, until=rule.until)
        for rule in rules
        if rule.until < today
    )


def apply(
    rules: Sequence[IgnoreRule], finding: Finding, today: date
) -> list[tuple[Finding, IgnoreRule | None]]:
    """Split the finding by the rule that covers a part of it; None for the part that counts."""
    active = _active(rules, finding, today)
    whole = next((rule for rule in active if not rule.properties), None)
    if whole is not None or not finding.properties:
        return [(finding, whole)]
    parts: list[tuple[IgnoreRule | None, list[Difference]]] = []
    for each in finding.properties:
        rule = next((r for r in active if _covers(r.properties, each.path)), None)
        part = next((part for other, part in parts if other == rule), None)
        if part is None:
            parts.append((rule, part := []))
        part.append(each)
    return [(finding.with_properties(tuple(part)), rule) for rule, part in parts]


def ignored_urns(rules: Sequence[IgnoreRule], run: EngineRun, today: date) -> tuple[str, ...]:
    """Return the URNs whose whole planned change is covered by rules.

    Leaves out changes that may be consequences: a Deployment must follow its recreated key.
    """
    return tuple(
        urn
        for urn, plan in run.planned.items()
        if _is_repair(plan, run.refreshed.get(urn))
        and not plan.may_be_consequence
        and _is_covered(_active(rules, plan, today), plan)
    )


def _is_repair(plan: Step, refresh: Step | None) -> bool:
    was_deleted = refresh is not None and refresh.new is None
    return plan.op == "update" or (plan.op == "create" and was_deleted)


def _is_covered(active: Sequence[IgnoreRule], plan: Step) -> bool:
    if any(not rule.properties for rule in active):
        return True
    return bool(plan.paths) and all(
        any(_covers(rule.properties, path) for rule in active) for path in plan.paths
    )


def _active(rules: Sequence[IgnoreRule], about: Finding | Step, today: date) -> list[IgnoreRule]:
    """Return the rules for this resource that have not expired."""
    return [
        rule
        for rule in rules
        if rule.until >= today
        and (_matches(rule.resource, about.urn) or _matches(rule.resource, about.type))
    ]


def _covers(patterns: Iterable[str], path: str) -> bool:
    """Return whether a pattern covers the path or a parent: `spec` covers `spec.replicas`."""
    return any(_matches(pattern, path, below=True) for pattern in patterns)


def _matches(pattern: str, text: str, *, below: bool = False) -> bool:
    """Match the whole text; `*` matches anything, every other character itself."""
    expression = ".*".join(map(re.escape, pattern.split("*")))
    end = r"(?:[.\[].*)?" if below else ""
    return re.fullmatch(expression + end, text, re.DOTALL) is not None
