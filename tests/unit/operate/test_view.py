"""Every field of the model reaches every format: none says less than another (R2)."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt
from pydantic import BaseModel

from coder_stack.operate.report import html, markdown
from coder_stack.operate.report.model import (
    Difference,
    ExpiredRule,
    KeyAge,
    LastUpdate,
    LicenseDates,
    NextStep,
    ProxySummary,
    Report,
    ReportedCondition,
    ResourceReport,
)
from coder_stack.operate.report.text import plain_lines
from coder_stack.operate.report.view import view_of
from tests.unit.operate.reports import NOW, clean, fails, resource


class Markers:
    """Values that occur nowhere else: a word, a number or a day for each field."""

    def __init__(self) -> None:
        self._next = iter(range(1001, 2000))

    def word(self) -> str:
        return f"marker{next(self._next)}"

    def number(self) -> int:
        return next(self._next)

    def day(self) -> datetime:
        return datetime(next(self._next) + 1000, 5, 17, 11, 47, tzinfo=UTC)


def marked(mark: Markers) -> Report:
    """Return a report in which every field has a value of its own."""
    word, number = mark.word, mark.number

    def step() -> NextStep:
        return NextStep(text=word(), command=word())

    def found(**fields: Any) -> ResourceReport:
        difference = Difference(path=word(), wanted=word(), recorded=word(), actual=word())
        given = {"kind": "changed", "origin": "refresh", "properties": (difference,), **fields}
        return ResourceReport(urn=word(), type=word(), name=word(), cause=word(), **given)

    return Report(
        stack=word(),
        written_at=mark.day(),
        checked_at=mark.day(),
        last_update=LastUpdate(at=mark.day(), kind=word(), succeeded=False),
        result="error",
        readiness="not ready",
        error=word(),
        error_next_step=step(),
        resources=(
            found(next_step=step(), left_because=word()),
            found(ignored_by=word(), ignored_until=mark.day().date()),
        ),
        repairs=(found(),),
        repaired=True,
        refused=word(),
        refused_next_step=step(),
        expired_rules=(ExpiredRule(resource=word(), reason=word(), until=mark.day().date()),),
        conditions=(
            ReportedCondition(
                component=word(),
                type=word(),
                status="Unknown",
                reason=word(),
                message=word(),
                doubted_by=(word(),),
                next_step=step(),
            ),
            ReportedCondition(
                component=word(), type=word(), status="True", reason=word(), message=word()
            ),
            ReportedCondition(
                component=word(), type="Ready", status="Unknown", reason=word(), message=word()
            ),
        ),
        license=LicenseDates(
            applied=True, license_expires=mark.day(), exp=mark.day(), warn_days=number()
        ),
        keys=(
            KeyAge(
                provisioner=word(),
                organization=word(),
                key_name=word(),
                age_days=number(),
                rotate_after_days=number(),
                daemons=number(),
            ),
        ),
        proxies=(ProxySummary(name=word(), health=word(), version=word(), report=word()),),
    )


# Fields whose values are words of their own in every format, or that are not shown as they are.
_WORDS = {
    "schema": "a constant",
    "result": "error",
    "readiness": "not ready",
    "kind": "changed",
    "origin": "label() of view.py; tested below",
    "status": "Unknown",
    "secret": "the mask",
    "repaired": "the section of repairs",
    "applied": "In coderd: yes",
    "succeeded": "a notice",
}
# Without a comparison, the report rests on the last update; else it is not what counts.
_ONLY_RECORDED = {"last_update.at", "last_update.kind"}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each field's path and how its value is written."""
    if isinstance(value, BaseModel):
        for name, info in type(value).model_fields.items():
            yield from leaves(getattr(value, name), f"{path}.{info.alias or name}".strip("."))
    elif isinstance(value, tuple):
        for number, each in enumerate(value):
            yield from leaves(each, f"{path}[{number}]")
    elif isinstance(value, datetime):
        yield path, f"{value.day} {value:%B %Y}"
    elif isinstance(value, date):
        yield path, value.isoformat()
    elif value is not None:
        yield path, str(value)


class Visible(HTMLParser):
    """The text of a page, without scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self._hidden = "", False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self._hidden else data


def of_text(report: Report) -> str:
    return "\n".join(plain_lines(report, details=True))


def of_markdown(report: Report) -> str:
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table")
    return Visible(rendered.render(markdown.render([report]))).text


def of_html(report: Report) -> str:
    return unescape(Visible(html.render([report])).text)


FORMATS = [of_text, of_markdown, of_html]


@pytest.mark.parametrize("shown", FORMATS, ids=["text", "markdown", "html"])
def test_R2_every_field_of_the_model_is_in_every_format(shown: Callable[[Report], str]) -> None:
    report = marked(Markers())
    text = shown(report)
    recorded = shown(report.model_copy(update={"result": "recorded", "checked_at": None}))
    missing = [
        path
        for path, value in leaves(report)
        if path.rpartition(".")[2] not in _WORDS
        and value not in (recorded if path in _ONLY_RECORDED else text)
    ]
    assert missing == []


@pytest.mark.parametrize("shown", FORMATS, ids=["text", "markdown", "html"])
def test_R3_a_change_of_the_config_waits_and_drift_does_not(
    shown: Callable[[Report], str],
) -> None:
    config = Difference(path="spec.replicas", wanted="3", recorded="1", actual="1")
    waiting = clean(resources=(resource("x", origin="plan", properties=(config,)),))
    drifted = clean(resources=(resource("x", origin="refresh", properties=(config,)),))
    assert "not applied yet" in shown(waiting)
    assert "not applied yet" not in shown(drifted)


def test_R2_conditions_with_one_reason_are_one_group() -> None:
    """One missing license is one thing to read, not nine."""
    nine = [fails(f"provisioner/{n}", "ProvisionerKeyReady", "NotEntitled") for n in range(9)]
    view = view_of(clean(conditions=(*nine, fails("stack", "Ready", "NotEntitled"))))
    (group,) = view.conditions.groups
    assert (group.reason, len(group.conditions)) == ("NotEntitled", 9)
    assert group.meaning == "The license does not include the feature."


@pytest.mark.parametrize(
    ("days", "warns"), [(-40, True), (-1, True), (0, True), (30, True), (31, False)]
)
def test_R2_a_license_within_warn_days_warns(days: int, warns: bool) -> None:
    begin = NOW + timedelta(days=days)
    dates = LicenseDates(
        applied=True, license_expires=begin, exp=begin + timedelta(days=14), warn_days=30
    )
    notices = view_of(clean(license=dates)).notices
    assert bool(notices) is warns
    assert all(each.next_step for each in notices)
