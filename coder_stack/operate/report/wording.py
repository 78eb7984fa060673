"""What every rendering of a report says alike: what counts, in which order, in which words.

Pure functions on report.py's models. Masks secrets a second time: a value that got into a report by
mistake still reaches no page. How it looks is the business of the renderers (text, markdown, html,
metrics).
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from coder_stack.conditions import Condition
from coder_stack.operate.report.model import Difference, Report, ResourceReport, Result

__all__ = [
    "KINDS",
    "SECRET",
    "counted",
    "days_between",
    "drifted",
    "headline",
    "ignored",
    "in_utc",
    "not_holding",
    "sentence",
    "shown",
    "worst",
]

KINDS = ("changed", "missing", "replaced", "unexpected", "unknown")
SECRET = "[secret]"  # noqa: S105 - what stands in for one


def drifted(report: Report) -> list[ResourceReport]:
    """What counts: not covered by an ignore rule."""
    return [resource for resource in report.resources if resource.ignored_by is None]


def ignored(report: Report) -> list[ResourceReport]:
    """What an ignore rule covers."""
    return [resource for resource in report.resources if resource.ignored_by is not None]


def not_holding(report: Report) -> list[Condition]:
    """Conditions that are False, then those that nobody knows."""
    found = [condition for condition in report.conditions if condition.status != "True"]
    return sorted(found, key=lambda condition: ("False", "Unknown").index(condition.status))


def worst(reports: Iterable[Report]) -> Result:
    """The one result of several stacks; nothing looked at is clean."""
    found = {report.result for report in reports}
    if "error" in found:
        return "error"
    return "drift" if "drift" in found else "clean"


def sentence(report: Report) -> str:
    """One stack in one sentence, without its name."""
    if report.result == "error":
        return report.error or "The look at this stack failed."
    if report.result == "drift":
        count = len(drifted(report))
        verb = "is" if count == 1 else "are"
        return f"{counted(count, 'resource')} {verb} not as recorded."
    said = "Drift was found and repaired." if report.repaired else "As recorded."
    return (
        f"{said} {counted(len(ignored(report)), 'resource')} ignored." if ignored(report) else said
    )


def headline(reports: Sequence[Report]) -> str:
    """All stacks in one line."""
    if not reports:
        return "No stack was looked at"
    told = {
        "error": "could not be checked",
        "drift": "drifted",
        "clean": "clean",
    }
    counts = {result: sum(report.result == result for report in reports) for result in told}
    if len(reports) == 1:
        return f"{reports[0].stack} {_one(reports[0])}"
    every = [f"{count} {told[result]}" for result, count in counts.items() if count]
    return f"{len(reports)} stacks: {', '.join(every)}"


def shown(difference: Difference) -> tuple[str | None, str | None]:
    """Recorded and actual as they may be shown; None where there is no value."""
    if difference.secret:
        return SECRET, SECRET
    return difference.recorded, difference.actual


def counted(count: int, noun: str) -> str:
    """`1 resource`, `2 resources`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def in_utc(moment: datetime) -> datetime:
    """Times without a zone are taken as UTC, so that dates can always be compared."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def days_between(earlier: datetime, later: datetime) -> int:
    """Whole days; negative if it is over."""
    return (in_utc(later) - in_utc(earlier)).days


def _one(report: Report) -> str:
    words = {"error": "could not be checked", "drift": "has drifted", "clean": "is clean"}
    return words[report.result]
