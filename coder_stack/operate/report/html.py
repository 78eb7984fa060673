"""Reports as one self-contained HTML page, without scripts and external fonts or images.

Prepares the data; page/report.html.jinja and page/report.css lay it out. jinja2 escapes all text,
and the page's content security policy forbids it to load anything.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from coder_stack.conditions import Condition
from coder_stack.operate.report import charts, wording
from coder_stack.operate.report.model import Difference, Report
from coder_stack.operate.report.wording import as_utc

_COMPONENT_TITLES = {"controlPlane": "Control plane", "operator": "Operator", "stack": "Stack"}
_FAMILY_TITLES = {"provisioner": "Provisioners", "proxy": "Workspace proxies"}


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

    @property
    def holds(self) -> bool:
        """Return whether all its conditions are True."""
        return all(condition.status == "True" for condition in self.all_conditions)


@dataclass(frozen=True)
class MarkedValue:
    """One value of a property, split around the part that differs from the other value."""

    before: str
    differs: str
    after: str


def render(reports: Sequence[Report]) -> str:
    """Return the whole page."""
    return _PAGE.render(reports=reports)


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


def mark_difference(difference: Difference) -> tuple[MarkedValue | None, MarkedValue | None]:
    """Return the recorded and the actual value, None where there is none; secrets are masked."""
    recorded, actual = wording.shown_values(difference)
    if recorded is None or actual is None:
        return (
            None if recorded is None else MarkedValue("", recorded, ""),
            None if actual is None else MarkedValue("", actual, ""),
        )
    start = _common_prefix(recorded, actual)
    shortest = min(len(recorded), len(actual))
    end = min(_common_prefix(recorded[::-1], actual[::-1]), shortest - start)
    return _mark(recorded, start, end), _mark(actual, start, end)


def split_code(text: str) -> list[tuple[bool, str]]:
    """Split a sentence at its backticks into pairs: whether it is code, and the text."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # the last backtick has no partner
        parts[-2:] = ["`".join(parts[-2:])]
    return [(number % 2 == 1, part) for number, part in enumerate(parts) if part]


def _mark(text: str, start: int, end: int) -> MarkedValue:
    stop = len(text) - end
    return MarkedValue(text[:start], text[start:stop], text[stop:])


def _common_prefix(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _format_time(moment: datetime) -> str:
    return f"{_format_day(moment)}, {as_utc(moment):%H:%M} UTC"


def _format_day(moment: datetime) -> str:
    utc = as_utc(moment)
    return f"{utc.day} {utc:%B %Y}"


def _days_until(later: datetime, earlier: datetime) -> str:
    days = wording.days_between(earlier, later)
    if days < 0:
        return f"{wording.counted(-days, 'day')} ago"
    return f"in {wording.counted(days, 'day')}"


_GLOBALS: dict[str, Any] = {
    "wording": wording,
    "charts": charts,
    "component_tree": component_tree,
    "mark_difference": mark_difference,
    "split_code": split_code,
    "format_time": _format_time,
    "format_day": _format_day,
    "days_until": _days_until,
    "counted": wording.counted,
    "as_utc": as_utc,
    "tones": {"clean": "ok", "drift": "warn", "error": "bad"},
    "kind_tones": {
        "changed": "warn",
        "missing": "bad",
        "replaced": "warn",
        "unexpected": "info",
        "unknown": "calm",
    },
    "status_tones": {"True": "ok", "False": "bad", "Unknown": "calm"},
}
_PAGE = Environment(
    loader=PackageLoader("coder_stack.operate.report", package_path="page"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
).get_template("report.html.jinja", globals=_GLOBALS)
