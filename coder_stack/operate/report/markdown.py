"""Reports as Markdown, for a pull-request comment or a job summary: result first, details folded.

Escapes names, values and causes as character references, so that nothing in them can end a table
cell, open a tag, format text, or mention a person. GitHub allows 65 536 characters per comment:
past `limit` the page leaves out properties, then rows, and says so.
"""

from collections.abc import Callable, Iterable, Sequence

from coder_stack.conditions import Condition
from coder_stack.operate.report.model import ExpiredRule, Report, ResourceReport
from coder_stack.operate.report.wording import (
    as_utc,
    counted,
    days_between,
    drifted,
    failing_conditions,
    headline,
    ignored,
    overall_result,
    shown_values,
    summary,
)  # fmt: skip

_ICONS = {"clean": "✅", "drift": "⚠️", "error": "❌"}
_ESCAPES = {ord(char): f"&#{ord(char)};" for char in "&<>\"'`|*_[]~\\$!#:"}
_LINE_BREAKS = dict.fromkeys(map(ord, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), "↵")
_MAX_VALUE_LENGTH = 300
_MAX_ROWS = 20


def render(reports: Sequence[Report], *, limit: int = 60_000) -> str:
    """Return the page, shortened if it is longer than `limit`."""
    full = _page(reports, _properties, rows=None)
    if len(full) <= limit:
        return full
    short = _page(reports, _property_count, rows=_MAX_ROWS)
    if len(short) <= limit:
        return short
    return f"{_title(reports)}\n\nToo long to show here.\n"[:limit]


def _page(
    reports: Sequence[Report], details: Callable[[Sequence[ResourceReport]], str], rows: int | None
) -> str:
    parts = [_title(reports)]
    for report in reports:
        parts += [
            f"### {_ICONS[report.result]} {_code(report.stack)}",
            _text(summary(report)),
            _resources(
                drifted(report)[:rows], left_out=len(drifted(report)[rows:] if rows else ())
            ),
            details(drifted(report)),
            _conditions(failing_conditions(report)),
            _expired(report.expired_rules),
            _ignored(ignored(report)[:rows]),
            _license(report),
            f"Checked {as_utc(report.checked_at):%Y-%m-%d %H:%M} UTC.",
        ]
    return "".join(f"{part}\n\n" for part in parts if part)


def _title(reports: Sequence[Report]) -> str:
    return f"## {_ICONS[overall_result(reports)]} {_text(headline(reports))}"


def _resources(resources: Sequence[ResourceReport], left_out: int) -> str:
    rows = [
        (_code(resource.name), _short_type(resource.type), resource.kind, _text(resource.cause))
        for resource in resources
    ]
    table = _table(("Resource", "Type", "Kind", "Cause"), rows)
    return f"{table}\n\n… and {counted(left_out, 'resource')} more." if left_out else table


def _properties(resources: Sequence[ResourceReport]) -> str:
    rows = [
        (_code(resource.name), _code(each.path), *(_value(value) for value in shown_values(each)))
        for resource in resources
        for each in resource.properties
    ]
    title = f"{counted(len(rows), 'field')}, recorded and actual"
    return _folded(title, _table(("Resource", "Field", "Recorded", "Actual"), rows))


def _property_count(resources: Sequence[ResourceReport]) -> str:
    count = sum(len(resource.properties) for resource in resources)
    return f"{counted(count, 'field')} left out: too long to show here." if count else ""


def _conditions(conditions: Sequence[Condition]) -> str:
    rows = [
        (
            _code(each.component),
            _text(each.type),
            each.status,
            _code(each.reason),
            _text(each.message),
        )
        for each in conditions
    ]
    table = _table(("Component", "Condition", "Status", "Reason", "Message"), rows)
    return f"**Conditions that do not hold**\n\n{table}" if rows else ""


def _expired(rules: Iterable[ExpiredRule]) -> str:
    lines = [
        f"- {_code(rule.resource)} (until {rule.until}): {_text(rule.reason)}" for rule in rules
    ]
    return "\n".join(["**Expired ignore rules: these count again**", "", *lines]) if lines else ""


def _ignored(resources: Sequence[ResourceReport]) -> str:
    rows = [
        (_code(resource.name), resource.kind, _text(resource.ignored_by or ""))
        for resource in resources
    ]
    return _folded(f"{len(rows)} ignored", _table(("Resource", "Kind", "Why ignored"), rows))


def _license(report: Report) -> str:
    if report.license is None:
        return ""
    dates = {"grace begins": report.license.license_expires, "features end": report.license.exp}
    parts = [
        f"{name} {as_utc(moment):%Y-%m-%d} ({days_between(report.checked_at, moment)} days)"
        for name, moment in dates.items()
        if moment is not None
    ]
    return f"License: {', '.join(parts)}." if parts else ""


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _folded(title: str, content: str) -> str:
    if not content:
        return ""
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>"


def _short_type(type_token: str) -> str:
    return _code(type_token.rpartition(":")[2])


def _value(value: str | None) -> str:
    if value is None:
        return "none"
    cut = value if len(value) <= _MAX_VALUE_LENGTH else f"{value[:_MAX_VALUE_LENGTH]}…"
    return _code(cut)


def _code(text: str) -> str:
    """Format as code, in which GitHub resolves no mentions and references."""
    return f"<code>{_escaped(text)}</code>" if text.strip() else "<code> </code>"


def _text(text: str) -> str:
    # The empty comment separates `@` from the name, so that GitHub notifies nobody.
    return _escaped(text).replace("@", "@<!-- -->").strip()


def _escaped(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\t", " ").translate(_ESCAPES)
    return "".join(c if c.isprintable() else "�" for c in lines.translate(_LINE_BREAKS))
