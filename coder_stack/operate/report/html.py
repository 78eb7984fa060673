"""Reports as one HTML page that needs nothing else: no script, no font, no picture from outside.

Prepares what the page shows; page/report.html.jinja says how, with page/report.css inside it. All
text is escaped by jinja2, and the page forbids itself (by a content policy) to load anything.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from coder_stack.conditions import Condition
from coder_stack.operate.report import charts as figures
from coder_stack.operate.report import wording as overview
from coder_stack.operate.report.model import Difference, Report
from coder_stack.operate.report.wording import in_utc

__all__ = ["render"]

_GROUPS = {"controlPlane": "Control plane", "operator": "Operator", "stack": "Stack"}
_FAMILIES = {"provisioner": "Provisioners", "proxy": "Workspace proxies"}


@dataclass(frozen=True)
class Branch:
    """A component in the tree: its own conditions, and the components below it."""

    name: str
    conditions: tuple[Condition, ...] = ()
    branches: tuple["Branch", ...] = ()

    @property
    def every(self) -> tuple[Condition, ...]:
        """Its conditions and those of all below."""
        return self.conditions + tuple(c for branch in self.branches for c in branch.every)

    @property
    def holds(self) -> bool:
        """Whether there is nothing to look at."""
        return all(condition.status == "True" for condition in self.every)


@dataclass(frozen=True)
class Side:
    """One value of a field, with the part of it that differs from the other one set apart."""

    before: str
    differs: str
    after: str


def render(reports: Sequence[Report]) -> str:
    """The whole page."""
    return _PAGE.render(reports=reports)


def tree(conditions: Iterable[Condition]) -> Branch:
    """`provisioner/gpu` is below the provisioners; what is about the whole stack is at the root."""
    by_component: dict[str, list[Condition]] = {}
    for condition in conditions:
        by_component.setdefault(condition.component, []).append(condition)
    own = tuple(by_component.pop("stack", ()))
    families: dict[str, list[Branch]] = {}
    branches: list[Branch] = []
    for component, found in by_component.items():
        family, _, name = component.partition("/")
        if name:
            families.setdefault(family, []).append(Branch(name, tuple(found)))
        else:
            branches.append(Branch(_GROUPS.get(component, component), tuple(found)))
    for family, below in families.items():
        branches.append(Branch(_FAMILIES.get(family, family), branches=tuple(below)))
    return Branch("Stack", own, tuple(branches))


def sides(difference: Difference) -> tuple[Side | None, Side | None]:
    """Recorded and actual, None where there is no value; secrets come masked."""
    recorded, actual = overview.shown(difference)
    if recorded is None or actual is None:
        return (
            None if recorded is None else Side("", recorded, ""),
            None if actual is None else Side("", actual, ""),
        )
    start = _alike(recorded, actual)
    shortest = min(len(recorded), len(actual))
    end = min(_alike(recorded[::-1], actual[::-1]), shortest - start)
    return _cut(recorded, start, end), _cut(actual, start, end)


def pieces(text: str) -> list[tuple[bool, str]]:
    """A sentence cut at its backticks: whether each piece is code, and the piece."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a lone backtick is only a character
        parts[-2:] = ["`".join(parts[-2:])]
    return [(place % 2 == 1, part) for place, part in enumerate(parts) if part]


def _cut(text: str, start: int, end: int) -> Side:
    stop = len(text) - end
    return Side(text[:start], text[start:stop], text[stop:])


def _alike(one: str, other: str) -> int:
    """How many characters the two begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _moment(moment: datetime) -> str:
    when = in_utc(moment)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def _day(moment: datetime) -> str:
    when = in_utc(moment)
    return f"{when.day} {when:%B %Y}"


def _distance(later: datetime, earlier: datetime) -> str:
    days = overview.days_between(earlier, later)
    if days < 0:
        return f"{overview.counted(-days, 'day')} ago"
    return f"in {overview.counted(days, 'day')}"


_WORDS: dict[str, Any] = {
    "overview": overview,
    "figures": figures,
    "tree": tree,
    "sides": sides,
    "pieces": pieces,
    "moment": _moment,
    "day": _day,
    "distance": _distance,
    "counted": overview.counted,
    "in_utc": in_utc,
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
).get_template("report.html.jinja", globals=_WORDS)
