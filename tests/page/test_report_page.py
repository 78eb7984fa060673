"""The HTML report in a real browser: on a desk and on a phone, in light and dark, on paper (D2)."""

import itertools
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from coder_stack.conditions import ConditionStatus
from coder_stack.operate.report import html
from coder_stack.operate.report.model import (
    Difference,
    KeyAge,
    LicenseDates,
    NextStep,
    ProxySummary,
    Report,
    ReportedCondition,
)
from sandbox import toolchain
from tests.browser import Tab, browser
from tests.page.example_parts import DEPLOYMENT, NOW, SECRET, resource
from tests.page.examples import (
    clean,
    drifted,
    failed,
    license_ends,
    not_ready,
    recorded_after_failure,
    refused,
    repaired,
    report,
)

pytestmark = pytest.mark.xdist_group("browser")

DESK, PHONE = 1280, 390
LOOKS = [
    pytest.param(width, dark, id=f"{width}-{'dark' if dark else 'light'}")
    for width in (DESK, PHONE)
    for dark in (False, True)
]
UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true })"
WIDER_THAN_THE_SCREEN = """
[...document.querySelectorAll('body *')].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width > 1 && (box.right > innerWidth + 0.5 || box.left < -0.5);
}).map(e => e.outerHTML.slice(0, 120))
"""
# Boxes of the visible labels in a chart: left, right, top, bottom and the text.
LABELS = """
[...document.querySelectorAll('svg.line text')].map(e => [e.getBoundingClientRect(), e])
  .filter(([box]) => box.width > 0)
  .map(([box, e]) => [box.left, box.right, box.top, box.bottom, e.textContent])
"""


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with browser() as opened:
        yield opened


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Six stacks with everything that a page can have."""
    return written(
        tmp_path, drifted("a", not_created=2), failed("b"), refused("c"), not_ready("d"),
        recorded_after_failure("e"), license_ends("f"),
    )  # fmt: skip


def written(folder: Path, *reports: Report) -> Path:
    file = folder / "report.html"
    file.write_text(html.render(reports))
    return file


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_D2_nothing_is_wider_than_the_screen(tab: Tab, page: Path, width: int, dark: bool) -> None:
    tab.open(page, width=width, dark=dark)
    tab.ask(UNFOLD)
    assert tab.ask("innerWidth") == width
    assert tab.ask("document.scrollingElement.scrollWidth") <= width
    assert tab.ask(WIDER_THAN_THE_SCREEN) == []


def test_D2_words_without_an_end_are_folded_too(tab: Tab, tmp_path: Path) -> None:
    word = "x" * 3000
    step = NextStep(text=word, command=word)
    long = resource(
        word, word, cause=word, next_step=step, left_because=word,
        properties=(Difference(path=word, recorded=word, actual=f"{word}y", wanted="z"),),
    )  # fmt: skip
    statuses: tuple[ConditionStatus, ...] = ("True", "False")
    every = Report(
        stack=word[:200], written_at=NOW, checked_at=NOW, result="drift",
        error=word, error_next_step=step, repairs=(long,),
        resources=(long, long.model_copy(update={"ignored_by": word})),
        conditions=tuple(
            ReportedCondition(
                component=f"proxy/{word}", type=word, status=status, reason=word, message=word,
                doubted_by=(word,), next_step=step,
            )
            for status in statuses
        ),
        keys=(KeyAge(provisioner=word, organization=word, key_name=word, age_days=5),),
        proxies=(ProxySummary(name=word, health=word, version=word),),
    )  # fmt: skip
    tab.open(written(tmp_path, every, every), width=PHONE)
    tab.ask(UNFOLD)
    assert tab.ask(WIDER_THAN_THE_SCREEN) == []


def test_D2_every_drifted_field_can_be_read(tab: Tab, tmp_path: Path) -> None:
    tab.open(written(tmp_path, drifted()), width=PHONE)
    tab.ask(UNFOLD)
    seen = tab.ask("document.body.innerText")
    for found in drifted().resources:
        assert found.name in seen
        assert found.urn in seen
        for field in found.properties:
            assert field.path in seen
            if not field.secret:
                values = (field.wanted, field.recorded, field.actual)
                assert all(side in seen for side in values if side)
    assert SECRET not in tab.ask("document.documentElement.outerHTML")


def test_R3_empty_text_is_visible_and_short_values_are_marked(tab: Tab, tmp_path: Path) -> None:
    tab.open(written(tmp_path, drifted()), width=PHONE)
    [first, *_] = tab.ask("[...document.querySelectorAll('.empty')].map(e => e.innerText)")
    assert first == '"" empty'
    marked = tab.ask("[...document.querySelectorAll('mark')].map(e => e.innerText)")
    assert marked[:2] == ["1", "3"]
    assert {"25.4", "25.0", "26.1", "kept", "debug", "info"} <= set(marked)


def test_R2_found_repaired_and_ignored_are_on_the_page(tab: Tab, tmp_path: Path) -> None:
    tab.open(written(tmp_path, repaired()), width=PHONE)
    titles = tab.ask("[...document.querySelectorAll('h3')].map(e => e.innerText)")
    assert titles[:3] == ["What is left", "What was repaired", "Ignored by rules"]


def test_R1_a_status_is_not_a_check(tab: Tab, tmp_path: Path) -> None:
    """What a person sees first says so, on a phone without scrolling."""
    tab.open(written(tmp_path, recorded_after_failure()), width=PHONE)
    box = tab.ask("document.querySelector('.basis').getBoundingClientRect().bottom")
    assert 0 < box < 844
    assert "not checked now" in tab.ask("document.querySelector('.basis').innerText")
    seen = tab.ask("document.body.innerText")
    assert "Checked" not in seen
    assert "clean" not in seen.lower()


def test_D2_the_page_loads_nothing_but_itself(tab: Tab, page: Path) -> None:
    tab.open(page, width=DESK)
    assert tab.asked == [page.as_uri()]


@pytest.fixture
def strict(tab: Tab) -> Iterator[Tab]:
    """The browser as a user has it: the page's content security policy holds."""
    tab.call("Page.setBypassCSP", enabled=False)
    yield tab
    tab.call("Page.setBypassCSP", enabled=True)


def test_D2_no_script_runs_but_ours(strict: Tab, tmp_path: Path) -> None:
    file = written(tmp_path, drifted())
    foreign = "<script>window.foreign = 1</script><svg onload='window.foreign = 2'></svg>"
    file.write_text(file.read_text().replace("<footer>", f"<footer>{foreign}"))
    strict.open(file, width=DESK)
    assert strict.ask("document.querySelectorAll('script').length") == 2
    assert strict.ask("window.foreign ?? 'none'") == "none"
    assert strict.ask("document.querySelectorAll('button.copy[hidden]').length") == 0
    assert strict.ask("getComputedStyle(document.querySelector('.panel')).borderRadius") == "12px"


@pytest.mark.parametrize("clipboard", [True, False], ids=["clipboard", "selection"])
def test_D2_a_button_copies_the_urn(strict: Tab, tmp_path: Path, clipboard: bool) -> None:
    """A page from a file may have no clipboard of its own; then it copies a selection."""
    strict.open(written(tmp_path, drifted()), width=DESK)
    if clipboard:
        strict.call("Browser.grantPermissions", permissions=["clipboardSanitizedWrite"])
        strict.ask("document.execCommand = undefined")
    else:
        strict.ask("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    click(strict, ".address summary")
    click(strict, ".address button")
    word = "document.querySelector('.address button').textContent"
    assert strict.ask(f"new Promise(done => setTimeout(() => done({word}), 200))") == "Copied"
    assert strict.ask("document.getElementById('copied').textContent") == "Copied"
    assert pasted(strict) == DEPLOYMENT.urn


def click(tab: Tab, selector: str) -> None:
    """Press the mouse there, as a user does."""
    found = f"document.querySelector('{selector}')"
    tab.ask(f"{found}.scrollIntoView({{block: 'center'}})")
    x, y = tab.ask(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])"
                   f"({found}.getBoundingClientRect())")  # fmt: skip
    for event in ("mousePressed", "mouseReleased"):
        tab.call("Input.dispatchMouseEvent", type=event, x=x, y=y, button="left", clickCount=1)


def pasted(tab: Tab) -> str:
    """Return what the clipboard holds."""
    tab.ask("document.body.append(document.createElement('textarea'))")
    tab.ask("document.querySelector('textarea').focus()")
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="v", commands=["paste"])
    return tab.ask("document.querySelector('textarea').value")


def test_D2_without_a_script_and_on_paper_there_are_no_buttons(tab: Tab, tmp_path: Path) -> None:
    shown = "[...document.querySelectorAll('button')].filter(e => e.checkVisibility()).length"
    file = written(tmp_path, drifted())
    tab.open(file, width=DESK)
    assert tab.ask(shown) > 0
    tab.open(file, width=DESK, paper=True)
    assert tab.ask(shown) == 0
    text = file.read_text()
    file.write_text(text[: text.index("<script>")])
    tab.open(file, width=DESK)
    assert tab.ask(shown) == 0


@pytest.mark.parametrize("width", [DESK, 900, PHONE, 320])
@pytest.mark.parametrize(
    "days", [(24, 38), (290, 304), (-10, 4), (-400, -386), (1500, 1501), (0, 1)]
)
def test_D2_no_labels_of_the_license_collide(
    tab: Tab, tmp_path: Path, width: int, days: tuple[int, int]
) -> None:
    begin, end = (NOW + timedelta(days=number) for number in days)
    dates = LicenseDates(applied=True, license_expires=begin, exp=end, warn_days=30)
    example = clean().model_copy(update={"license": dates})
    tab.open(written(tmp_path, example), width=width)
    labels = tab.ask(LABELS)
    texts = [label[4] for label in labels]
    assert {"today", "valid", "grace", "ended"} <= set(texts)
    assert len(texts) >= 5, "with a tick"
    for one, other in itertools.combinations(labels, 2):
        beside = one[1] < other[0] or other[1] < one[0]
        above = one[3] <= other[2] + 1 or other[3] <= one[2] + 1
        assert beside or above, (one, other)


def test_D2_a_license_that_ends_soon_warns(tab: Tab, tmp_path: Path) -> None:
    tab.open(written(tmp_path, license_ends()), width=PHONE)
    said = tab.ask("document.querySelector('.callout.tone-warn').innerText")
    assert "The license expires on 25 March 2027, in 24 days." in said
    assert "tone-warn" in tab.ask("document.querySelector('.hero').className")


def test_D2_bars_carry_their_number(tab: Tab, tmp_path: Path) -> None:
    tab.open(written(tmp_path, clean()), width=PHONE)
    numbers = tab.ask("[...document.querySelectorAll('svg.age text')].map(e => e.textContent)")
    assert numbers == ["81 days", "12 days", "203 days"]
    inside = """[...document.querySelectorAll('svg.age text')].every(e =>
      e.getBoundingClientRect().right <= e.closest('svg').getBoundingClientRect().right)"""
    assert tab.ask(inside)


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
    tab.ask(UNFOLD)
    tab.ask((toolchain.wheels("axe") / "axe_playwright_python" / "axe.min.js").read_text())
    found = tab.ask("axe.run(document).then(r => ({bad: r.violations, good: r.passes.length}))")
    assert found["good"] > 15, "it has looked"
    said = {each["id"]: [node["html"][:200] for node in each["nodes"]] for each in found["bad"]}
    assert said == {}


def test_R1_the_worst_of_result_and_readiness_colours_the_page(tab: Tab, tmp_path: Path) -> None:
    tab.open(written(tmp_path, report("clean"), report("recorded", stack="b")), width=DESK)
    assert "tone-info" in tab.ask("document.querySelector('.hero').className")
