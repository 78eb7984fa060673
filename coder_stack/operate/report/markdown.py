"""Reports as Markdown, for a pull-request comment or a job summary: result first, details folded.

Text from outside (names, values, causes) is written in character references, so that nothing in it
can end a table cell, open a tag, format, or mention a person. A comment may hold 65 536
characters: past `limit` the folded parts go, then rows, and the page says so.
"""

from collections.abc import Callable, Iterable, Sequence

from coder_stack.conditions import Condition
from coder_stack.operate.report.model import ExpiredRule, Report, ResourceReport
from coder_stack.operate.report.wording import (
    counted,
    days_between,
    drifted,
    headline,
    ignored,
    in_utc,
    not_holding,
    sentence,
    shown,
    worst,
)  # fmt: skip

__all__ = ["render"]

_MARKS = {"clean": "✅", "drift": "⚠️", "error": "❌"}
_SPECIAL = {ord(char): f"&#{ord(char)};" for char in "&<>\"'`|*_[]~\\$!#:"}
_LINE_ENDS = dict.fromkeys(map(ord, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), "↵")
_LONGEST_VALUE = 300
_ROWS_WHEN_SHORT = 20


def render(reports: Sequence[Report], *, limit: int = 60_000) -> str:
    """The whole page."""
    whole = _page(reports, _fields, rows=None)
    if len(whole) <= limit:
        return whole
    short = _page(reports, _no_fields, rows=_ROWS_WHEN_SHORT)
    if len(short) <= limit:
        return short
    return _summary(reports)[:limit]


def _page(
    reports: Sequence[Report], fields: Callable[[Sequence[ResourceReport]], str], rows: int | None
) -> str:
    parts = [f"## {_MARKS[worst(reports)]} {_text(headline(reports))}"]
    for report in reports:
        parts += [
            f"### {_MARKS[report.result]} {_code(report.stack)}",
            _text(sentence(report)),
            _resources(
                drifted(report)[:rows], left_out=len(drifted(report)[rows:] if rows else ())
            ),
            fields(drifted(report)),
            _conditions(not_holding(report)),
            _expired(report.expired_rules),
            _ignored(ignored(report)[:rows]),
            _license(report),
            f"Checked {in_utc(report.checked_at):%Y-%m-%d %H:%M} UTC.",
        ]
    return "".join(f"{part}\n\n" for part in parts if part)


def _summary(reports: Sequence[Report]) -> str:
    return f"## {_MARKS[worst(reports)]} {_text(headline(reports))}\n\nToo long for this place.\n"


def _resources(resources: Sequence[ResourceReport], left_out: int) -> str:
    rows = [
        (_code(resource.name), _short(resource.type), resource.kind, _text(resource.cause))
        for resource in resources
    ]
    table = _table(("Resource", "Type", "Kind", "Cause"), rows)
    return f"{table}\n\n… and {counted(left_out, 'resource')} more." if left_out else table


def _fields(resources: Sequence[ResourceReport]) -> str:
    rows = [
        (_code(resource.name), _code(field.path), *(_value(side) for side in shown(field)))
        for resource in resources
        for field in resource.properties
    ]
    title = f"{counted(len(rows), 'field')}, recorded and actual"
    return _folded(title, _table(("Resource", "Field", "Recorded", "Actual"), rows))


def _no_fields(resources: Sequence[ResourceReport]) -> str:
    count = sum(len(resource.properties) for resource in resources)
    return f"{counted(count, 'field')} left out here: too long for this place." if count else ""


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
    return (
        "\n".join(["**Ignore rules that are over: these count again**", "", *lines])
        if lines
        else ""
    )


def _ignored(resources: Sequence[ResourceReport]) -> str:
    rows = [
        (_code(resource.name), resource.kind, _text(resource.ignored_by or ""))
        for resource in resources
    ]
    return _folded(f"{len(rows)} ignored", _table(("Resource", "Kind", "Why ignored"), rows))


def _license(report: Report) -> str:
    known = report.license
    if known is None or (known.license_expires is None and known.exp is None):
        return ""
    dates = (("grace begins", known.license_expires), ("features end", known.exp))
    told = [
        f"{name} {in_utc(moment):%Y-%m-%d} ({days_between(report.checked_at, moment)} days)"
        for name, moment in dates
        if moment is not None
    ]
    return f"License: {', '.join(told)}."


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _folded(title: str, inside: str) -> str:
    if not inside:
        return ""
    return f"<details><summary>{title}</summary>\n\n{inside}\n\n</details>"


def _short(type_token: str) -> str:
    return _code(type_token.rpartition(":")[2])


def _value(value: str | None) -> str:
    if value is None:
        return "none"
    cut = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
    return _code(cut)


def _code(text: str) -> str:
    """As code: GitHub looks for no mentions and no references in it."""
    return f"<code>{_characters(text)}</code>" if text.strip() else "<code> </code>"


def _text(text: str) -> str:
    # The empty comment parts `@` from the name behind it: nobody is called to a report.
    return _characters(text).replace("@", "@<!-- -->").strip()


def _characters(text: str) -> str:
    tidy = text.replace("\r\n", "\n").replace("\t", " ").translate(_SPECIAL).translate(_LINE_ENDS)
    return "".join(char if char.isprintable() else "�" for char in tidy)
