"""What all renderers of a report share: what counts, in which order, and the sentences. Pure.

Masks secrets a second time, in case a value got into a report by mistake. The layout is in the
renderers: text.py, markdown.py, html.py and metrics.py.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from coder_stack.conditions import Condition
from coder_stack.operate.report.model import Difference, Report, ResourceReport, Result

KINDS = ("changed", "missing", "replaced", "unexpected", "unknown")
SECRET = "[secret]"  # noqa: S105 - the mask, not a secret


def drifted(report: Report) -> list[ResourceReport]:
    """Return the resources that count: no ignore rule covers them."""
    return [resource for resource in report.resources if resource.ignored_by is None]


def ignored(report: Report) -> list[ResourceReport]:
    """Return the resources that an ignore rule covers."""
    return [resource for resource in report.resources if resource.ignored_by is not None]


def failing_conditions(report: Report) -> list[Condition]:
    """Return the conditions that are False, then those that are Unknown."""
    found = [condition for condition in report.conditions if condition.status != "True"]
    return sorted(found, key=lambda condition: ("False", "Unknown").index(condition.status))


def overall_result(reports: Iterable[Report]) -> Result:
    """Return the worst result of several stacks; clean without any stack."""
    found = {report.result for report in reports}
    if "error" in found:
        return "error"
    return "drift" if "drift" in found else "clean"


def summary(report: Report) -> str:
    """Sum up one stack in one sentence, without its name."""
    if report.result == "error":
        return report.error or "The check of this stack failed."
    if report.result == "drift":
        count = len(drifted(report))
        verb = "is" if count == 1 else "are"
        return f"{counted(count, 'resource')} {verb} not as recorded."
    text = "Drift was found and repaired." if report.repaired else "As recorded."
    count = len(ignored(report))
    return f"{text} {counted(count, 'resource')} ignored." if count else text


def headline(reports: Sequence[Report]) -> str:
    """Sum up all stacks in one line."""
    if not reports:
        return "No stack was checked"
    if len(reports) == 1:
        words = {"error": "could not be checked", "drift": "has drifted", "clean": "is clean"}
        return f"{reports[0].stack} {words[reports[0].result]}"
    words = {"error": "could not be checked", "drift": "drifted", "clean": "clean"}
    counts = {result: sum(report.result == result for report in reports) for result in words}
    parts = [f"{count} {words[result]}" for result, count in counts.items() if count]
    return f"{len(reports)} stacks: {', '.join(parts)}"


def shown_values(difference: Difference) -> tuple[str | None, str | None]:
    """Return the recorded and the actual value, secrets masked; None where there is none."""
    if difference.secret:
        return SECRET, SECRET
    return difference.recorded, difference.actual


def counted(count: int, noun: str) -> str:
    """Return `1 resource`, `2 resources`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def as_utc(moment: datetime) -> datetime:
    """Convert to UTC, so that all dates can be compared; a time without a zone is UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def days_between(earlier: datetime, later: datetime) -> int:
    """Return whole days; negative if `later` is in the past."""
    return (as_utc(later) - as_utc(earlier)).days
