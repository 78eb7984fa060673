"""Reports as one self-contained HTML page.

Lays out what view.py returns: page/ has the template, the style and the script of the copy
buttons. jinja2 escapes all text. The content security policy allows that style and that script, by
their hashes, and nothing else.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import takewhile
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from coder_stack.conditions import Condition
from coder_stack.counting import counted
from coder_stack.operate.report import charts
from coder_stack.operate.report.model import Difference, LastUpdate, Report
from coder_stack.operate.report.sentences import as_utc, format_time
from coder_stack.operate.report.summary import headline
from coder_stack.operate.report.view import (
    StackView,
    Tone,
    label,
    short_type,
    values,
    view_of,
)

_COMPONENT_TITLES = {"controlPlane": "Control plane", "operator": "Operator", "stack": "Stack"}
_FAMILY_TITLES = {
    "organization": "Organizations",
    "provisioner": "Provisioners",
    "proxy": "Workspace proxies",
}
_WORST_FIRST: tuple[Tone, ...] = ("bad", "warn", "info", "calm", "ok")
_SHORT = 40


@dataclass(frozen=True)
class Section:
    """One stack on the page: the view that every format has, and what only a page draws."""

    view: StackView
    tone: Tone
    """The worst of result, readiness and notices."""
    shares: tuple[charts.Segment, ...]
    timeline: charts.Timeline | None
    last_update: str


@dataclass(frozen=True)
class ComponentNode:
    """A component in the tree, with its own conditions and the components below it."""

    name: str
    conditions: tuple[Condition, ...] = ()
    children: tuple["ComponentNode", ...] = ()

    @property
    def all_conditions(self) -> tuple[Condition, ...]:
        """Return its conditions and those of all components below."""
        return self.conditions + tuple(c for node in self.children for c in node.all_conditions)


@dataclass(frozen=True)
class MarkedValue:
    """One value of a property, split around the part that differs from the others."""

    before: str
    differs: str
    after: str


def render(reports: Sequence[Report]) -> str:
    """Return the whole page, with the stacks that need somebody first."""
    sections = sorted(map(_section, reports), key=lambda each: _WORST_FIRST.index(each.tone))
    return _PAGE.render(headline=headline(reports), reports=reports, sections=sections)


def component_tree(conditions: Iterable[Condition]) -> ComponentNode:
    """Put `provisioner/gpu` below the provisioners, and conditions of the stack at the root."""
    by_component: dict[str, list[Condition]] = {}
    for condition in conditions:
        by_component.setdefault(condition.component, []).append(condition)
    own = tuple(by_component.pop("stack", ()))
    families: dict[str, list[ComponentNode]] = {}
    nodes: list[ComponentNode] = []
    for component, found in by_component.items():
        family, _, name = component.partition("/")
        if name:
            families.setdefault(family, []).append(ComponentNode(name, tuple(found)))
        else:
            title = _COMPONENT_TITLES.get(component, component)
            nodes.append(ComponentNode(title, tuple(found)))
    for family, members in families.items():
        title = _FAMILY_TITLES.get(family, family)
        nodes.append(ComponentNode(title, children=tuple(members)))
    return ComponentNode("Stack", own, tuple(nodes))


def marked_values(difference: Difference) -> list[tuple[str, MarkedValue | None]]:
    """Return each value with its word; None where there is no value.

    A short value is marked as a whole. Of long ones that have most in common, only the words that
    differ are marked.
    """
    shown = values(difference)
    texts = [text for _, text in shown if text is not None]
    start, end = _common_parts(texts)
    return [(word, None if text is None else _mark(text, start, end)) for word, text in shown]


def split_code(text: str) -> list[tuple[bool, str]]:
    """Split a sentence at its backticks into pairs: whether it is code, and the text."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # the last backtick has no partner
        parts[-2:] = ["`".join(parts[-2:])]
    return [(number % 2 == 1, part) for number, part in enumerate(parts) if part]


def _section(report: Report) -> Section:
    shown, dates = view_of(report), report.license
    ready = shown.conditions.ready
    tones = {shown.tone, *(notice.tone for notice in shown.notices)}
    if shown.readiness:
        tones.add(shown.readiness_tone)
    return Section(
        shown,
        tone=next(tone for tone in _WORST_FIRST if tone in tones),
        shares=charts.shares(each for each in shown.conditions.every if each is not ready),
        timeline=None if dates is None else charts.timeline(dates, report.written_at),
        last_update=_last_update(report.last_update),
    )


def _last_update(last: LastUpdate | None) -> str:
    if last is None:
        return ""
    return f"{last.kind} at {format_time(last.at)}, {'succeeded' if last.succeeded else 'failed'}"


def _common_parts(texts: Sequence[str]) -> tuple[int, int]:
    """Return how many characters at the start and at the end not to mark."""
    longest = max(map(len, texts), default=0)
    if len(set(texts)) < 2 or longest <= _SHORT:
        return 0, 0
    start = _whole_words(_common_start(texts))
    end = _whole_words(_common_start([text[start:][::-1] for text in texts]))
    return (start, end) if start + end >= longest / 2 else (0, 0)


def _common_start(texts: Sequence[str]) -> str:
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*texts, strict=False))
    return "".join(column[0] for column in columns)


def _whole_words(common: str) -> int:
    """Return the length without a word at the end that may go on differently."""
    return len(common.rstrip("".join(filter(str.isalnum, set(common)))))


def _mark(text: str, start: int, end: int) -> MarkedValue:
    stop = len(text) - end
    return MarkedValue(text[:start], text[start:stop], text[stop:])


def _read(name: str) -> str:
    file = resources.files("coder_stack.operate.report").joinpath("page", name)
    return file.read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the source expression with which a content security policy allows this text."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


_STYLE, _SCRIPT = _read("report.css"), _read("report.js")
_GLOBALS: dict[str, Any] = {
    "style": Markup(_STYLE),  # noqa: S704 - our own files
    "script": Markup(_SCRIPT),  # noqa: S704
    "policy": (
        f"default-src 'none'; style-src {_hash(_STYLE)}; script-src {_hash(_SCRIPT)}; "
        "base-uri 'none'; form-action 'none'"
    ),
    "charts": charts,
    "label": label,
    "short_type": short_type,
    "component_tree": component_tree,
    "marked_values": marked_values,
    "split_code": split_code,
    "format_time": format_time,
    "as_utc": as_utc,
    "counted": counted,
    "results": {"recorded": "not checked now"},
    "kind_tones": {
        "changed": "warn",
        "missing": "bad",
        "replaced": "warn",
        "unexpected": "info",
        "unknown": "calm",
    },
    "status_tones": charts.STATUS_TONES,
    "health_tones": {"ok": "ok", "unknown": "calm"},
    "side_tones": {"actual": "bad", "recorded": "calm", "wanted": "ok"},
}
_PAGE = Environment(
    loader=PackageLoader("coder_stack.operate.report", package_path="page"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
).get_template("report.html.jinja", globals=_GLOBALS)
