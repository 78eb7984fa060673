"""The HTML report in a real browser: on a desk and on a phone, in light and dark, on paper (D2)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from coder_stack.conditions import Condition
from coder_stack.operate.report import html
from coder_stack.operate.report.model import Difference, KeyAge, Report
from sandbox import toolchain
from tests.browser import Tab, browser
from tests.unit.operate.reports import NOW, SECRET, broken, clean, drifted, holds, resource

pytestmark = pytest.mark.xdist_group("browser")

DESK, PHONE = 1280, 390
LOOKS = [
    pytest.param(width, dark, id=f"{width}-{'dark' if dark else 'light'}")
    for width in (DESK, PHONE)
    for dark in (False, True)
]
WIDER_THAN_THE_SCREEN = """
[...document.querySelectorAll('body *')].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5);
}).map(e => e.outerHTML.slice(0, 120))
"""


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with browser() as opened:
        yield opened


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Three stacks, one of them with everything in it."""
    well = (holds("controlPlane", "ControlPlaneReady"), holds("operator", "LicenseApplied"))
    reports = [drifted(), clean(conditions=well), broken()]
    return written(tmp_path, *reports)


def written(folder: Path, *reports: Report) -> Path:
    file = folder / "report.html"
    file.write_text(html.render(reports))
    return file


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_D2_nothing_is_wider_than_the_screen(tab: Tab, page: Path, width: int, dark: bool) -> None:
    tab.open(page, width=width, dark=dark)
    assert tab.ask("innerWidth") == width
    assert tab.ask("document.scrollingElement.scrollWidth") <= width
    assert tab.ask(WIDER_THAN_THE_SCREEN) == []


def test_D2_words_without_an_end_are_folded_too(tab: Tab, tmp_path: Path) -> None:
    word = "x" * 3000
    report = Report(
        stack=word[:200],
        checked_at=NOW,
        result="drift",
        error=word,
        resources=(
            resource(
                word, type=word, cause=word,
                properties=(Difference(path=word, recorded=word, actual=f"{word}y"),),
            ),
            resource(word, cause="x", ignored_by=word),
        ),
        conditions=(
            Condition(
                component=f"proxy/{word}", type=word, status="False", reason=word, message=word
            ),
        ),
        keys=(KeyAge(provisioner=word, organization=word, key_name=word, age_days=5),),
    )  # fmt: skip
    tab.open(written(tmp_path, report, report), width=PHONE)
    assert tab.ask(WIDER_THAN_THE_SCREEN) == []


def test_D2_every_drifted_field_can_be_read(tab: Tab, page: Path) -> None:
    tab.open(page, width=PHONE)
    seen = tab.ask("document.body.innerText")
    for found in drifted().resources:
        assert found.name in seen
        for field in found.properties:
            assert field.path in seen
            if not field.secret:
                assert all(side in seen for side in (field.recorded, field.actual) if side)
    assert SECRET not in tab.ask("document.documentElement.outerHTML")


def test_D2_the_page_loads_nothing_but_itself(tab: Tab, page: Path) -> None:
    tab.open(page, width=DESK)
    assert tab.asked == [page.as_uri()]


def test_D2_dark_is_dark_and_light_is_light(tab: Tab, page: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    tab.open(page, width=DESK)
    assert min(tab.ask(background)) > 200
    tab.open(page, width=DESK, dark=True)
    assert max(tab.ask(background)) < 60


def test_D2_on_paper_what_was_folded_is_there_on_white(tab: Tab, page: Path) -> None:
    visible = "document.querySelector('details:not([open]) li').checkVisibility()"
    tab.open(page, width=DESK, dark=True)
    assert not tab.ask(visible)
    tab.open(page, width=DESK, dark=True, paper=True)
    assert tab.ask(visible)
    assert tab.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_D2_axe_has_nothing_serious_to_say(tab: Tab, page: Path, width: int, dark: bool) -> None:
    tab.open(page, width=width, dark=dark)
    tab.ask((toolchain.wheels("axe") / "axe_playwright_python" / "axe.min.js").read_text())
    found = tab.ask("axe.run(document).then(r => ({bad: r.violations, good: r.passes.length}))")
    assert found["good"] > 15, "it has looked"
    said = {each["id"]: [node["html"][:200] for node in each["nodes"]] for each in found["bad"]}
    assert said == {}
