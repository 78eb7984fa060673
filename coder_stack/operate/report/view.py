"""What every renderer shows of a report, section by section and in order (R2). Pure.

text.py, markdown.py and html.py only lay it out, so that no format says less than another. Findings
with one cause stand together, and so do conditions with one reason. Values of secrets are masked
a second time, in case one got into a report by mistake.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from coder_stack.counting import counted
from coder_stack.explanations import EXPLANATIONS, NEW_LICENSE, UP
from coder_stack.operate.report import summary
from coder_stack.operate.report.model import (
    Difference,
    ExpiredRule,
    KeyAge,
    NextStep,
    ProxySummary,
    Report,
    ReportedCondition,
    ResourceReport,
    Result,
)
from coder_stack.operate.report.sentences import (
    days_between,
    days_until,
    format_day,
    format_time,
    sentence,
)

Tone = Literal["ok", "warn", "bad", "info", "calm"]
SECRET = "[secret]"  # noqa: S105 - the mask, not a secret
RESULT_TONES: dict[Result, Tone] = {
    "clean": "ok",
    "drift": "warn",
    "error": "bad",
    "recorded": "info",
}
_READINESS_TONES: dict[str, Tone] = {"ready": "ok", "not ready": "bad", "unknown": "calm"}
_SHARED_CAUSES = {
    "missing": "are declared, but were not created yet.",
    "unexpected": "still exist, but are no longer declared.",
}


@dataclass(frozen=True)
class Notice:
    """Something to read first: an error, a refused repair, a license that ends."""

    tone: Tone
    title: str
    text: str
    next_step: NextStep | None = None


@dataclass(frozen=True)
class Group:
    """Resources that differ for one cause."""

    cause: str
    next_step: NextStep | None
    resources: tuple[ResourceReport, ...]


@dataclass(frozen=True)
class Findings:
    """One list of resources: what differs, what was repaired, or what rules ignore."""

    title: str
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class ConditionGroup:
    """Conditions that do not hold, for one reason."""

    status: str
    reason: str
    meaning: str
    next_step: NextStep | None
    conditions: tuple[ReportedCondition, ...]


@dataclass(frozen=True)
class Conditions:
    """All conditions: `ready` sums them up, `groups` do not hold, `holding` do."""

    ready: ReportedCondition | None
    groups: tuple[ConditionGroup, ...]
    holding: tuple[ReportedCondition, ...]
    every: tuple[ReportedCondition, ...]


@dataclass(frozen=True)
class Fact:
    """One line about the license: a label, its value, and how far away it is."""

    tone: Tone
    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class StackView:
    """One stack as every format shows it."""

    stack: str
    result: Result
    tone: Tone
    readiness: str
    readiness_tone: Tone
    repaired: bool
    summary: str
    basis: str
    written: str
    notices: tuple[Notice, ...]
    findings: tuple[Findings, ...]
    expired_rules: tuple[ExpiredRule, ...]
    license: tuple[Fact, ...]
    keys: tuple[KeyAge, ...]
    proxies: tuple[ProxySummary, ...]
    conditions: Conditions


def view_of(report: Report) -> StackView:
    """Return everything that a format shows of the report."""
    return StackView(
        stack=report.stack,
        result=report.result,
        tone=RESULT_TONES[report.result],
        readiness=summary.readiness(report),
        readiness_tone=_READINESS_TONES[report.readiness],
        repaired=report.repaired,
        summary=summary.summary(report),
        basis=summary.basis(report),
        written=format_time(report.written_at),
        notices=tuple(_notices(report)),
        findings=tuple(_findings(report)),
        expired_rules=report.expired_rules,
        license=tuple(_license(report)),
        keys=report.keys,
        proxies=report.proxies,
        conditions=_conditions(report.conditions),
    )


def values(difference: Difference) -> list[tuple[str, str | None]]:
    """Return the values with their words, in the order of Pulumi's arrow; secrets are masked.

    A value that equals its neighbour is not repeated: recorded is shown if it is neither the actual
    nor the wanted value.
    """
    if difference.secret:
        return [("actual", SECRET), ("wanted", SECRET)]
    shown = [("actual", difference.actual)]
    if difference.recorded not in (difference.actual, difference.wanted):
        shown.append(("recorded", difference.recorded))
    return [*shown, ("wanted", difference.wanted)]


def label(resource: ResourceReport) -> str:
    """Return its kind, and whether it waits for an update."""
    return resource.kind if resource.origin == "refresh" else f"{resource.kind}, not applied yet"


def short_type(resource: ResourceReport) -> str:
    """Return the last part of the type, such as `Deployment`."""
    return resource.type.rpartition(":")[2]


def daemons(key: KeyAge) -> str:
    """Return how many daemons are connected, in words."""
    return "daemons unknown" if key.daemons is None else counted(key.daemons, "daemon")


def _notices(report: Report) -> Iterable[Notice]:
    if report.error:
        title = "The repair failed" if report.repaired else "The check failed"
        yield Notice("bad", title, report.error, report.error_next_step)
    if report.refused:
        yield Notice("warn", "The repair was refused", report.refused, report.refused_next_step)
    if report.last_update is not None and not report.last_update.succeeded:
        text = f"The last {report.last_update.kind} did not succeed; what follows may be half-done."
        step = NextStep(text="Run it again.", command=UP.format(stack=report.stack))
        yield Notice("warn", f"The last {report.last_update.kind} failed", text, step)
    if warning := _license_warning(report):
        step = NextStep(text="Renew the license.", command=NEW_LICENSE.format(stack=report.stack))
        yield Notice("warn", "The license ends", warning, step)


def _license_warning(report: Report) -> str:
    license_, now = report.license, report.written_at
    if license_ is None:
        return ""
    if license_.exp is not None and days_between(now, license_.exp) < 0:
        return f"The license ended on {format_day(license_.exp)}."
    begin = license_.license_expires
    if begin is None:
        return ""
    if days_between(now, begin) < 0:
        return f"The license is in its grace period since {format_day(begin)}."
    if license_.warn_days is not None and days_between(now, begin) <= license_.warn_days:
        return f"The license expires on {format_day(begin)}, {days_until(begin, now)}."
    return ""


def _findings(report: Report) -> Iterable[Findings]:
    after = bool(report.repairs or report.refused or report.repaired)
    for title, resources in (
        ("What is left" if after else "What differs", summary.drifted(report)),
        ("What was repaired", report.repairs),
        ("Ignored by rules", summary.ignored(report)),
    ):
        if resources:
            yield Findings(title, tuple(_groups(resources)))


def _groups(resources: Sequence[ResourceReport]) -> Iterable[Group]:
    """Put together what is only to be created, and what is only to be deleted."""
    families: dict[tuple[object, ...], list[ResourceReport]] = {}
    for each in resources:
        shared = each.origin == "plan" and each.kind in _SHARED_CAUSES
        key: tuple[object, ...] = (each.urn, id(each))
        if shared or each.cluster:
            key = (each.kind, each.cluster, each.ignored_by, each.left_because)
        families.setdefault(key, []).append(each)
    for family in families.values():
        first, *others = family
        cause = first.cause
        if others and not first.cluster:
            cause = f"{counted(len(family), 'resource')} {_SHARED_CAUSES[first.kind]}"
        yield Group(cause, first.next_step, tuple(family))


def _license(report: Report) -> Iterable[Fact]:
    license_, now = report.license, report.written_at
    if license_ is None:
        return
    applied = license_.applied
    yield Fact("ok" if applied else "bad", "In coderd", "yes" if applied else "no")
    if (begin := license_.license_expires) is not None:
        yield Fact("warn", "Grace begins", format_day(begin), days_until(begin, now))
    if (end := license_.exp) is not None:
        yield Fact("bad", "Features end", format_day(end), days_until(end, now))
    if license_.warn_days is not None:
        yield Fact("calm", "Warns", f"{counted(license_.warn_days, 'day')} before")


def _conditions(every: tuple[ReportedCondition, ...]) -> Conditions:
    ready = next((each for each in every if each.type == "Ready"), None)
    others = [each for each in every if each is not ready]
    families: dict[tuple[str, str], list[ReportedCondition]] = {}
    for status in ("False", "Unknown"):
        for each in others:
            if each.status == status:
                families.setdefault((status, each.reason), []).append(each)
    groups = (
        ConditionGroup(status, reason, _meaning(reason), family[0].next_step, tuple(family))
        for (status, reason), family in families.items()
    )
    holding = tuple(each for each in others if each.status == "True")
    return Conditions(ready, tuple(groups), holding, every)


def _meaning(reason: str) -> str:
    known = EXPLANATIONS.get(reason)
    return sentence(known.meaning) if known else ""
