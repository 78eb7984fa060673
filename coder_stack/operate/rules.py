"""Ignore rules of the config, laid over findings (D2). Pure; the day is an argument.

A rule names a resource by its URN or type and, if it wants, properties. It never hides anything:
what it covers is in the report with the rule's reason, and does not count. Once its last day is
over it covers nothing, and is listed.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from coder_stack.operate.findings import Finding
from coder_stack.operate.report import Difference, ExpiredRule
from coder_stack.settings import IgnoreRule

__all__ = ["apply", "expired"]


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
    live = [rule for rule in rules if rule.until >= today and _names(rule.resource, finding)]
    whole = next((rule.reason for rule in live if not rule.properties), None)
    if whole is not None or not finding.properties:
        return [(finding, whole)]
    parts: dict[str | None, list[Difference]] = {}
    for each in finding.properties:
        reason = next((r.reason for r in live if _covers(r.properties, each.path)), None)
        parts.setdefault(reason, []).append(each)
    return [(finding.with_only(tuple(some)), reason) for reason, some in parts.items()]


def _names(pattern: str, finding: Finding) -> bool:
    return _matches(pattern, finding.urn) or _matches(pattern, finding.type)


def _covers(patterns: Iterable[str], path: str) -> bool:
    """A path covers what lies below it: `spec` covers `spec.replicas`, not `specs`."""
    return any(_matches(pattern, path, below=True) for pattern in patterns)


def _matches(pattern: str, text: str, *, below: bool = False) -> bool:
    """`*` stands for anything; every other character for itself."""
    wanted = ".*".join(map(re.escape, pattern.split("*")))
    end = r"(?:[.\[].*)?" if below else ""
    return re.fullmatch(wanted + end, text, re.DOTALL) is not None
