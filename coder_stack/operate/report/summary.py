"""A report in one line: its result, whether the stack is ready, and what counts (R1). Pure.

Result and readiness are two things, and are said as two. view.py has everything else that a
renderer shows.
"""

from collections.abc import Iterable, Sequence

from coder_stack.counting import counted
from coder_stack.operate.report.model import Report, ResourceReport, Result
from coder_stack.operate.report.sentences import format_time

KINDS = ("changed", "missing", "replaced", "unexpected", "unknown")
RESULTS: tuple[Result, ...] = ("error", "drift", "clean", "recorded")
_ONE = {
    "error": "could not be checked",
    "drift": "has drifted",
    "clean": "is clean",
    "recorded": "was not checked now",
}
_MANY = {**_ONE, "drift": "drifted", "clean": "clean", "recorded": "not checked now"}
_READINESS = {"ready": "ready", "not ready": "not ready", "unknown": "readiness unknown"}


def drifted(report: Report) -> list[ResourceReport]:
    """Return the resources that count: no ignore rule covers them."""
    return [resource for resource in report.resources if resource.ignored_by is None]


def ignored(report: Report) -> list[ResourceReport]:
    """Return the resources that an ignore rule covers."""
    return [resource for resource in report.resources if resource.ignored_by is not None]


def overall_result(reports: Iterable[Report]) -> Result:
    """Return the worst result of several stacks; clean without any stack."""
    found = [report.result for report in reports]
    for result in RESULTS:
        if result in found:
            return result
    return "clean"


def result_words(result: Result) -> str:
    """Return the result in words: what was only recorded was not checked."""
    return "not checked now" if result == "recorded" else result


def readiness(report: Report) -> str:
    """Return whether the stack is ready, in words; empty if nothing is known about it."""
    return _READINESS[report.readiness] if report.conditions else ""


def basis(report: Report) -> str:
    """Say what the report rests on, and when that was."""
    if report.checked_at is not None and report.result == "error":
        return f"Compared only in part, at {format_time(report.checked_at)}."
    if report.checked_at is not None:
        return f"Compared with the cluster and coderd at {format_time(report.checked_at)}."
    if report.result == "error":
        return "Nothing could be compared."
    if report.last_update is None:
        return "As of the last update, at an unknown time; not checked now."
    last = report.last_update
    return f"As of the last {last.kind} at {format_time(last.at)}, not checked now."


def summary(report: Report) -> str:
    """Sum up the comparison of one stack in one sentence, without its name."""
    if report.result == "error":
        return "The check of this stack failed."
    if report.result == "recorded":
        return "What the last update recorded."
    unseen = sum(each.cluster is not None for each in drifted(report))
    count, repaired = len(drifted(report)) - unseen, len(report.repairs)
    parts = [
        f"{counted(count, 'resource')} {'differs' if count == 1 else 'differ'}" if count else "",
        f"{counted(repaired, 'resource')} repaired" if repaired else "",
        f"{counted(unseen, 'resource')} could not be looked at" if unseen else "",
        f"{counted(len(ignored(report)), 'resource')} ignored" if ignored(report) else "",
    ]
    told = ", ".join(filter(None, parts))
    return f"{told}." if told else "Everything is as wanted and as recorded."


def headline(reports: Sequence[Report]) -> str:
    """Sum up all stacks in one line."""
    if not reports:
        return "No stack was checked"
    if len(reports) == 1:
        report = reports[0]
        return ", ".join(filter(None, (f"{report.stack} {_ONE[report.result]}", readiness(report))))
    counts = {result: sum(report.result == result for report in reports) for result in RESULTS}
    parts = [f"{count} {_MANY[result]}" for result, count in counts.items() if count]
    parts += [f"{count} not ready"] if (count := _not_ready(reports)) else []
    return f"{len(reports)} stacks: {', '.join(parts)}"


def _not_ready(reports: Iterable[Report]) -> int:
    return sum(bool(report.conditions) and report.readiness != "ready" for report in reports)
