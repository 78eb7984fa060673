"""The report as tables for a terminal, or as plain lines for a log.

Replaces control characters in all values, so that none reaches the terminal.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from coder_stack.operate.report.model import Difference, Report, ResourceReport

_RESULT_COLOURS = {"clean": "green", "drift": "yellow", "error": "red"}
_STATUS_COLOURS = {"True": "green", "False": "red", "Unknown": "yellow"}


def print_reports(reports: Sequence[Report], console: Console, *, details: bool) -> None:
    """Print tables on a terminal, else plain lines. `details` adds conditions, keys and proxies."""
    if not console.is_terminal:
        for report in reports:
            for line in plain_lines(report, details=details):
                console.print(line, markup=False, highlight=False, soft_wrap=True)
        return
    for report in reports:
        console.print(Text.assemble("Stack ", (report.stack, "bold"), ": ", _result(report)))
        for line in _notes(report):
            console.print(Padding(Text(line), (0, 0, 0, 2)))
        for resource in report.resources:
            console.print(Padding(_resource(resource), (0, 0, 0, 2)))
        if details:
            _tables(report, console)


def plain_lines(report: Report, *, details: bool) -> Iterator[str]:
    """Yield one line per resource, difference, condition, key and proxy."""
    yield f"stack {_printable(report.stack)}: {_result(report)}"
    yield from (f"  {line}" for line in _notes(report))
    for each in report.resources:
        yield f"  {_label(each)}: {_printable(each.cause)} [{each.name}]"
        yield from (f"    {_line(difference)}" for difference in each.properties)
    if details:
        for condition in report.conditions:
            name = f"{condition.component} {condition.type}"
            message = _printable(condition.message)
            yield f"  condition {name}: {condition.status} {condition.reason} {message}"
        for title, rows in _details(report):
            yield from (f"  {title} " + ", ".join(filter(None, row)) for row in rows)


def days_left(until: datetime | None, now: datetime) -> str:
    """Return the whole days left, or since the end."""
    if until is None:
        return "unknown"
    days = (until - now).days
    return f"{days} days left" if days >= 0 else f"ended {-days} days ago"


def _result(report: Report) -> Text:
    text: str = report.result
    ready = next((each for each in report.conditions if each.type == "Ready"), None)
    if not report.resources and report.result != "error" and ready is not None:
        text = {"True": "ready", "False": "not ready"}.get(ready.status, "readiness unknown")
        text = text if report.result == "drift" else f"clean, {text}"
    text = f"{text} after a repair" if report.repaired else text
    return Text(text, _RESULT_COLOURS[report.result])


def _notes(report: Report) -> Iterator[str]:
    if report.error:
        yield f"error: {_printable(report.error)}"
    if report.refused:
        yield _printable(report.refused)
    for rule in report.expired_rules:
        what = _printable(f"{rule.resource}: {rule.reason}")
        yield f"ignore rule expired after {rule.until}, so this counts again: {what}"


def _label(resource: ResourceReport) -> str:
    if resource.ignored_by is None:
        return resource.kind
    return f"{resource.kind}, ignored ({_printable(resource.ignored_by)})"


def _resource(resource: ResourceReport) -> Text:
    counts = resource.ignored_by is None
    text = Text.assemble(
        (_label(resource), "bold yellow" if counts else "dim"), "  ", _printable(resource.cause)
    )
    text.append(f"\n    {resource.urn}", style="dim")
    for each in resource.properties:
        text.append(f"\n    {_line(each)}")
    return text


def _line(difference: Difference) -> str:
    if difference.secret:
        return f"~ {_printable(difference.path)}: [secret] => [secret]"
    recorded, actual = (_value(each) for each in (difference.recorded, difference.actual))
    return f"~ {_printable(difference.path)}: {recorded} => {actual}"


def _value(value: str | None) -> str:
    return "(none)" if value is None else f'"{_printable(value)}"'


def _tables(report: Report, console: Console) -> None:
    table = Table("component", "condition", "status", "reason", "message", box=None)
    for each in report.conditions:
        status = Text(each.status, _STATUS_COLOURS[each.status])
        table.add_row(each.component, each.type, status, each.reason, _printable(each.message))
    if report.conditions:
        console.print(Padding(table, (1, 0, 0, 2)))
    for title, rows in _details(report):
        grid = Table(title, *([""] * (len(rows[0]) - 1)), box=None)
        for row in rows:
            grid.add_row(*row)
        console.print(Padding(grid, (1, 0, 0, 2)))


def _details(report: Report) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield a title and rows for license, keys and proxies."""
    now = report.checked_at
    if report.license:
        applied = "applied" if report.license.applied else "not applied"
        grace = f"until grace: {days_left(report.license.license_expires, now)}"
        yield "license", [[applied, grace, f"until it ends: {days_left(report.license.exp, now)}"]]
    if report.keys:
        yield (
            "key",
            [
                [
                    f"{key.provisioner} ({key.organization})",
                    key.key_name or "none",
                    "age unknown" if key.age_days is None else f"{key.age_days} days old",
                    f"rotated after {key.rotate_after_days}" if key.rotate_after_days else "",
                    "daemons unknown" if key.daemons is None else f"{key.daemons} daemons",
                ]
                for key in report.keys
            ],
        )
    if report.proxies:
        yield "proxy", [[each.name, each.health, each.version] for each in report.proxies]


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
