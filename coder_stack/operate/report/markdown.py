"""Reports as Markdown, for a pull-request comment or a job summary: result first, details folded.

Escapes names, values and causes as character references, so that nothing in them can end a table
cell, open a tag, format text, or mention a person. GitHub allows 65 536 characters per comment:
past `limit` the page leaves out properties, then rows, and says so.
"""

from collections.abc import Iterable, Sequence

from coder_stack.counting import counted
from coder_stack.operate.report.model import (
    ExpiredRule,
    NextStep,
    Report,
    ReportedCondition,
    ResourceReport,
)
from coder_stack.operate.report.summary import headline, overall_result, result_words
from coder_stack.operate.report.view import (
    Conditions,
    Findings,
    Notice,
    StackView,
    daemons,
    label,
    short_type,
    values,
    view_of,
)

_ICONS = {"clean": "✅", "drift": "⚠️", "error": "❌", "recorded": "🕓"}
_TONE_ICONS = {"bad": "❌", "warn": "⚠️"}
_ESCAPES = {ord(char): f"&#{ord(char)};" for char in "&<>\"'`|*_[]~\\$!#:"}
_LINE_BREAKS = dict.fromkeys(map(ord, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), "↵")
_MAX_VALUE_LENGTH = 300
_MAX_ROWS = 20


def render(reports: Sequence[Report], *, limit: int = 60_000) -> str:
    """Return the page, shortened if it is longer than `limit`."""
    views = [view_of(report) for report in reports]
    title = f"## {_ICONS[overall_result(reports)]} {_text(headline(reports))}"
    for rows in (None, _MAX_ROWS):
        page = "".join(f"{part}\n\n" for part in (title, *_parts(views, rows)) if part)
        if len(page) <= limit:
            return page
    return f"{title}\n\nToo long to show here.\n"[:limit]


def _parts(views: Iterable[StackView], rows: int | None) -> Iterable[str]:
    """Yield the parts of the page; with a limit of rows, properties are only counted."""
    for view in views:
        words = ", ".join(filter(None, (result_words(view.result), view.readiness)))
        yield f"### {_ICONS[view.result]} {_code(view.stack)}: {words}"
        yield _text(f"{view.summary} {view.basis}")
        yield from (_notice(each) for each in view.notices)
        for findings in view.findings:
            yield from _findings(findings, rows)
        yield _expired(view.expired_rules)
        yield from _conditions(view.conditions)
        yield _facts(view)
        yield _text(f"Report of {view.written}.")


def _notice(notice: Notice) -> str:
    icon = _TONE_ICONS.get(notice.tone, "")
    lines = [f"> {icon} **{_text(notice.title)}.** {_text(notice.text)}", _next(notice.next_step)]
    return "\n>\n> ".join(filter(None, lines))


def _next(step: NextStep | None) -> str:
    return f"Next: {_text(step.text)} {_code(step.command)}" if step else ""


def _findings(findings: Findings, rows: int | None) -> Iterable[str]:
    yield f"**{findings.title}**"
    groups = findings.groups[:rows]
    cells = [
        (
            _text(group.cause),
            f"{label(group.resources[0])}",
            _named(group.resources),
            _next(group.next_step) or "-",
        )
        for group in groups
    ]
    yield _table(("Cause", "Kind", "Resource", "Next step"), cells)
    if left_out := len(findings.groups) - len(groups):
        yield f"… and {counted(left_out, 'cause')} more."
    resources = [each for group in findings.groups for each in group.resources]
    yield from _details(resources) if rows is None else [_count(resources)]


def _named(resources: Sequence[ResourceReport]) -> str:
    first = resources[0]
    if len(resources) > 1:
        return counted(len(resources), "resource")
    return f"{_code(first.name)} {_code(short_type(first))}"


def _details(resources: Sequence[ResourceReport]) -> Iterable[str]:
    """Yield the differing fields, and each resource with its URN and why it is as it is."""
    fields = [
        (_code(resource.name), _code(each.path), *(_value(sides.get(word)) for word in _SIDES))
        for resource in resources
        for each in resource.properties
        for sides in [dict(values(each))]
    ]
    titles = ("Resource", "Field", *(word.capitalize() for word in _SIDES))
    words = f"{counted(len(fields), 'field')}: actual, recorded and wanted"
    yield _folded(words, _table(titles, fields))
    rows = [
        (_code(each.urn), _code(each.type), label(each), _text(each.cause), _why(each))
        for each in resources
    ]
    table = _table(("URN", "Type", "Kind", "Cause", "Left or ignored because"), rows)
    yield _folded(counted(len(rows), "resource"), table)


_SIDES = ("actual", "recorded", "wanted")


def _why(resource: ResourceReport) -> str:
    if resource.ignored_by is not None:
        until = f" (until {resource.ignored_until})" if resource.ignored_until else ""
        return f"{_text(resource.ignored_by)}{until}"
    return _text(resource.left_because or "-")


def _count(resources: Sequence[ResourceReport]) -> str:
    count = sum(len(resource.properties) for resource in resources)
    return f"{counted(count, 'field')} left out: too long to show here." if count else ""


def _conditions(conditions: Conditions) -> Iterable[str]:
    if ready := conditions.ready:
        words = f"{ready.status} ({_code(ready.reason)}) {_text(ready.message)}"
        yield f"**{_text(ready.component)} Ready**: {words}"
    rows = [
        (
            group.status,
            _code(group.reason),
            _text(group.meaning),
            "<br>".join(_condition(each) for each in group.conditions),
            _next(group.next_step) or "-",
        )
        for group in conditions.groups
    ]
    table = _table(("Status", "Reason", "Meaning", "Condition", "Next step"), rows)
    yield f"**Conditions that do not hold**\n\n{table}" if rows else ""
    held = [
        (
            _code(each.component),
            _text(each.type),
            each.status,
            _code(each.reason),
            _text(each.message),
        )
        for each in conditions.holding
    ]
    names = ("Component", "Condition", "Status", "Reason", "Message")
    yield _folded(f"{counted(len(held), 'condition')} that hold", _table(names, held))


def _condition(condition: ReportedCondition) -> str:
    named = f"{_code(condition.component)} {_text(condition.type)}: {_text(condition.message)}"
    doubts = ", ".join(map(_code, condition.doubted_by))
    return f"{named} Doubted by {doubts}." if doubts else named


def _expired(rules: Iterable[ExpiredRule]) -> str:
    lines = [
        f"- {_code(rule.resource)} (until {rule.until}): {_text(rule.reason)}" for rule in rules
    ]
    return "\n".join(["**Expired ignore rules: these count again**", "", *lines]) if lines else ""


def _facts(view: StackView) -> str:
    """Return license, keys and proxies, folded."""
    license_ = [
        (_text(each.label), _text(each.value), _text(each.note) or "-") for each in view.license
    ]
    keys = [
        (
            _code(key.provisioner),
            _code(key.organization),
            _code(key.key_name),
            "unknown" if key.age_days is None else counted(key.age_days, "day"),
            counted(key.rotate_after_days, "day") if key.rotate_after_days else "-",
            daemons(key),
        )
        for key in view.keys
    ]
    proxies = [
        (_code(each.name), _text(each.health), _text(each.version), _text(each.report) or "-")
        for each in view.proxies
    ]
    tables = (
        _table(("License", "", ""), license_),
        _table(("Provisioner", "Organization", "Key", "Age", "Rotated after", "Daemons"), keys),
        _table(("Proxy", "Health", "Version", "coderd's words"), proxies),
    )
    return _folded("License, keys and proxies", "\n\n".join(filter(None, tables)))


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _folded(title: str, content: str) -> str:
    if not content:
        return ""
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>"


def _value(value: str | None) -> str:
    if value is None:
        return "none"
    if not value:
        return "(empty)"
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
