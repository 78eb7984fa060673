"""The report as lines for a terminal or a log; a terminal gets colours.

Replaces control characters in all values, so that none reaches the terminal.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from coder_stack.operate.report.model import Difference, NextStep, Report, ResourceReport
from coder_stack.operate.report.summary import result_words
from coder_stack.operate.report.view import (
    Conditions,
    Findings,
    StackView,
    daemons,
    label,
    short_type,
    values,
    view_of,
)

_TONES = {"ok": "green", "warn": "yellow", "bad": "red", "info": "cyan", "calm": "default"}
_STATUSES = {"True": "green", "False": "red", "Unknown": "yellow"}


@dataclass(frozen=True)
class Line:
    """One line: how far it is indented, a coloured beginning, and the rest."""

    indent: int
    lead: str
    rest: str = ""
    style: str = ""

    def __str__(self) -> str:
        return " " * self.indent + _printable(self.lead + self.rest)


def print_reports(reports: Sequence[Report], console: Console, *, details: bool) -> None:
    """Print the lines. `details` adds URNs, conditions, license, keys and proxies."""
    for report in reports:
        for line in lines(report, details=details):
            text = Text.assemble(
                " " * line.indent, (_printable(line.lead), line.style), _printable(line.rest)
            )
            console.print(text, highlight=False, soft_wrap=True)


def plain_lines(report: Report, *, details: bool) -> Iterator[str]:
    """Yield the lines without colours."""
    return map(str, lines(report, details=details))


def lines(report: Report, *, details: bool) -> Iterator[Line]:
    """Yield the result first, then what to do, then the rest."""
    view = view_of(report)
    words = filter(None, (result_words(view.result), view.readiness))
    yield Line(0, f"stack {view.stack}: {', '.join(words)}", style=f"bold {_TONES[view.tone]}")
    if details or view.result == "recorded":
        yield Line(2, view.basis)
    if view.repaired or details:
        yield Line(2, view.summary)
    for notice in view.notices:
        lead = "error" if notice.tone == "bad" else "warning"
        yield Line(2, f"{lead}: ", f"{notice.text}", _TONES[notice.tone])
        yield from _next(notice.next_step, 4)
    for rule in view.expired_rules:
        rest = f"{rule.resource}: {rule.reason}"
        yield Line(2, f"ignore rule expired after {rule.until}, so this counts again: ", rest)
    for findings in view.findings:
        yield from _findings(findings, details=details)
    if details:
        yield from _facts(view)
        yield from _conditions(view.conditions)
        yield Line(2, f"report of {view.written}")


def _findings(findings: Findings, *, details: bool) -> Iterator[Line]:
    done = findings.title == "What was repaired"
    pending: NextStep | None = None
    for group in findings.groups:
        if pending is not None and group.next_step != pending:
            yield from _next(pending, 4)
        if len(group.resources) > 1:
            yield Line(2, f"{label(group.resources[0])}: ", group.cause, "bold yellow")
        if len(group.resources) > 1 and not details:
            yield Line(4, ", ".join(f"{short_type(e)} {e.name}" for e in group.resources))
        else:
            for each in group.resources:
                indent = 2 if len(group.resources) == 1 else 4
                yield from _resource(each, indent, done=done, details=details)
        pending = group.next_step
    yield from _next(pending, 4)


def _resource(
    resource: ResourceReport, indent: int, *, done: bool, details: bool
) -> Iterator[Line]:
    lead = f"repaired ({label(resource)})" if done else label(resource)
    style = "green" if done else "bold yellow"
    if resource.ignored_by is not None:
        until = f" until {resource.ignored_until}" if resource.ignored_until else ""
        lead, style = f"{lead}, ignored{until} ({resource.ignored_by})", "dim"
    yield Line(indent, f"{lead}: ", f"{resource.cause} [{resource.name}]", style)
    if details:
        yield Line(indent + 2, f"{short_type(resource)} ", resource.urn, "dim")
        if resource.type != short_type(resource):
            yield Line(indent + 2, "type ", resource.type, "dim")
    for each in resource.properties:
        yield Line(indent + 2, _line(each))
    if resource.left_because:
        yield Line(indent + 2, "left: ", resource.left_because)


def _line(difference: Difference) -> str:
    sides = (f"{word} {_value(value)}" for word, value in values(difference))
    return f"~ {difference.path}: {' => '.join(sides)}"


def _value(value: str | None) -> str:
    return "(none)" if value is None else value if value == "[secret]" else f'"{value}"'


def _next(step: NextStep | None, indent: int) -> Iterator[Line]:
    if step is not None:
        yield Line(indent, "next: ", f"{step.text} $ {step.command}", "cyan")


def _facts(view: StackView) -> Iterator[Line]:
    if view.license:
        facts = (
            f"{each.label.lower()}: {each.value}{f' ({each.note})' if each.note else ''}"
            for each in view.license
        )
        yield Line(2, "license ", ", ".join(facts), "bold")
    for key in view.keys:
        words: Iterable[str] = (
            f"{key.provisioner} ({key.organization})",
            key.key_name or "none",
            "age unknown" if key.age_days is None else f"{key.age_days} days old",
            f"rotated after {key.rotate_after_days}" if key.rotate_after_days else "",
            daemons(key),
        )
        yield Line(2, "key ", ", ".join(filter(None, words)), "bold")
    for proxy in view.proxies:
        words = filter(None, (proxy.name, proxy.health, proxy.version, proxy.report))
        yield Line(2, "proxy ", ", ".join(words), "bold")


def _conditions(conditions: Conditions) -> Iterator[Line]:
    for group in conditions.groups:
        count = len(group.conditions)
        yield Line(
            2,
            f"{group.status}: {group.reason}",
            f" ({count} {'condition' if count == 1 else 'conditions'}): {group.meaning}",
            _STATUSES[group.status],
        )
        for each in group.conditions:
            yield Line(4, f"{each.component} {each.type}: ", each.message)
            if each.doubted_by:
                yield Line(6, "doubted by ", ", ".join(each.doubted_by))
        yield from _next(group.next_step, 4)
    for each in conditions.holding:
        rest = f" {each.reason} {each.message}"
        yield Line(2, f"{each.component} {each.type}: {each.status}", rest, _STATUSES["True"])
    if ready := conditions.ready:
        rest = f" {ready.reason} {ready.message}"
        yield Line(2, f"{ready.component} Ready: {ready.status}", rest, _STATUSES[ready.status])


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
