"""The HTML page is well-formed and self-contained, escapes all text, and says what matters (D2)."""

import base64
import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from coder_stack.operate.report import html
from coder_stack.operate.report.model import Difference, Report
from coder_stack.operate.report.view import view_of
from sandbox.paths import CHECKOUT
from tests.page.any_model import anything
from tests.page.example_parts import IGNORED, NOT_CREATED, SECRET, conditions, resource
from tests.page.examples import (
    EVERY,
    clean,
    drifted,
    failed,
    five,
    not_ready,
    recorded,
    recorded_after_failure,
    recorded_not_ready,
    refused,
    repaired,
    report,
)

VOID = {"meta", "use", "rect", "path", "br"}
INLINE = {"code", "mark", "strong", "svg", "use"}


class Page(HTMLParser):
    """A strict parser: every tag must be closed by its own end tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text: list[str] = []
        self.title = ""
        self.scripts = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag not in INLINE:
            self.text.append(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            self.scripts += data
        elif inside == "title":
            self.title += data
        elif inside != "style":
            self.text.append(data)

    @property
    def words(self) -> str:
        """Return all text of the body, with single spaces."""
        return " ".join("".join(self.text).split())


def page_of(*reports: Report) -> Page:
    return Page(html.render(reports))


def sides(**values: Any) -> dict[str, html.MarkedValue | None]:
    return dict(html.marked_values(Difference(path="x", **values)))


def test_D2_the_page_needs_nothing_from_outside() -> None:
    page = page_of(*five())
    assert not {"link", "img", "iframe", "object"} & set(page.tags)
    loaded = [value for _, name, value in page.attributes if name in ("src", "href", "action")]
    assert loaded
    assert all(str(value).startswith("#") for value in loaded)
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "style"]
    assert "url(" not in html.render(five())


def test_D2_the_policy_allows_the_one_script_by_its_hash() -> None:
    page = page_of(drifted())
    [policy] = [value for _, _, value in page.attributes if value and "default-src" in value]
    digest = base64.b64encode(hashlib.sha256(page.scripts.encode()).digest()).decode()
    assert page.tags.count("script") == 1
    assert f"script-src 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_D2_several_stacks_are_summed_up_with_links_to_their_sections() -> None:
    page = page_of(*five())
    assert page.title.startswith("5 stacks: 1 could not be checked, 1 drifted, 2 clean")
    ids = {value for _, name, value in page.attributes if name == "id"}
    links = {str(v).removeprefix("#") for t, n, v in page.attributes if (t, n) == ("a", "href")}
    assert links == {f"stack-{number}" for number in range(1, 6)}
    assert links <= ids


def test_D2_the_stacks_that_need_somebody_come_first() -> None:
    names = re.findall(r'<h2 id="stack-\d-name">(\w+)</h2>', html.render(five()))
    assert names == ["lab", "training", "production", "demo", "staging"]


def test_D2_a_secret_is_masked_even_if_a_report_holds_it() -> None:
    text = html.render([drifted()])
    assert SECRET not in text
    assert text.count("secret, not shown") == 2


def test_R1_result_and_readiness_are_two_badges() -> None:
    text = html.render([not_ready()])
    assert re.findall(r'class="badge tone-(\w+)">.*?</svg>([\w ]+)<', text)[:2] == [
        ("ok", "Clean"),
        ("bad", "Not ready"),
    ]


@pytest.mark.parametrize("example", [recorded, recorded_not_ready, recorded_after_failure])
def test_R1_a_status_says_that_nothing_was_checked_now(example: Callable[[], Report]) -> None:
    page = page_of(example())
    assert "As of the last update at 28 February 2027, 21:18 UTC, not checked now." in page.words
    assert "Checked" not in page.words
    assert "clean" not in page.words.lower()
    assert "Compared" not in page.words


def test_R1_a_comparison_says_when_it_was() -> None:
    page = page_of(drifted())
    assert "Compared with the cluster and coderd at 1 March 2027, 06:30 UTC." in page.words
    assert "Last update at 28 February 2027, 21:18 UTC, succeeded." in page.words


def test_R1_a_page_with_findings_does_not_say_that_the_stack_is_ready() -> None:
    page = page_of(drifted())
    assert "stack Ready Unknown: Drifted" in page.words
    assert "stack Ready True" not in page.words
    assert "Doubted by gpu-eu-key, gpu-eu-key-secret" in page.words


def test_R2_what_is_left_what_was_repaired_and_what_rules_ignore_are_sections() -> None:
    page = page_of(repaired())
    order = [page.words.index(f"{title} ") for title in (
        "What is left", "What was repaired", "Ignored by rules",
    )]  # fmt: skip
    assert order == sorted(order)
    assert "Left: It still differs after the repair." in page.words
    assert "repaired: missing Key gpu-eu-3f9a was deleted in coderd." in page.words


def test_R2_an_ignored_finding_has_its_rule_and_its_values() -> None:
    page = page_of(report("clean", resources=(IGNORED,)))
    assert "Ignored until 2027-03-31: The platform team drains nodes in March." in page.words
    assert "spec.minAvailable Actual 1 Wanted 2" in page.words


@pytest.mark.parametrize("name", EVERY)
def test_R2_every_notice_and_every_group_has_its_next_step(name: str) -> None:
    for each in EVERY[name]:
        words, view = page_of(each).words, view_of(each)
        for shown in (
            *view.notices,
            *(group for findings in view.findings for group in findings.groups),
            *view.conditions.groups,
        ):
            if step := shown.next_step:
                said = step.text.replace("`", "")
                assert f"Next: {said} {step.command}" in words
        assert all(f"{notice.title}" in words for notice in view.notices)


def test_R2_an_error_and_a_refusal_are_callouts_above_what_was_found() -> None:
    for example, title in ((failed(), "The check failed"), (refused(), "The repair was refused")):
        text = html.render([example])
        assert text.index(f"<h3>{title}</h3>") < text.index('class="panel long findings"')


def test_R2_resources_with_one_cause_are_one_group() -> None:
    page = page_of(drifted())
    assert page.words.count("36 resources are declared, but were not created yet.") == 1
    assert page.words.count("missing, not applied yet") == 1
    for each in NOT_CREATED:
        assert each.urn in page.words


def test_R2_conditions_with_one_reason_are_one_line() -> None:
    page = page_of(not_ready())
    assert page.words.count("False: NotEntitled The license does not include the feature.") == 1
    assert "9 conditions " in page.words


def test_R3_the_three_words_are_used_for_the_three_sides() -> None:
    every = Difference(path="x", wanted="new", recorded="old", actual="edited")
    same = Difference(path="y", wanted="new", recorded="old", actual="old")
    found = resource("r", cause="It differs.", properties=(every, same))
    page = page_of(report("drift", resources=(found,)))
    assert "x Actual edited Recorded old Wanted new y Actual old Wanted new" in page.words


def test_R3_an_empty_text_is_visible_and_not_none() -> None:
    found = resource("r", properties=(Difference(path="x", wanted="", recorded="", actual=None),))
    page = page_of(report("drift", resources=(found,)))
    assert 'x Actual none Wanted "" empty' in page.words


def test_D2_a_short_value_is_marked_as_a_whole() -> None:
    assert sides(actual="v2.25.4", wanted="v2.26.1", recorded="v2.26.1") == {
        "actual": html.MarkedValue("", "v2.25.4", ""),
        "wanted": html.MarkedValue("", "v2.26.1", ""),
    }
    marked = sides(actual=None, wanted="a")
    assert marked == {"actual": None, "wanted": html.MarkedValue("", "a", "")}


def test_D2_of_long_values_only_the_words_that_differ_are_marked() -> None:
    start, end = "registry.example.com/mirror/of/coder/coder:v2.", " and a common end"
    marked = sides(
        actual=f"{start}25.4{end}", wanted=f"{start}26.1{end}", recorded=f"{start}2{end}"
    )
    assert marked == {
        "actual": html.MarkedValue(start, "25.4", end),
        "recorded": html.MarkedValue(start, "2", end),
        "wanted": html.MarkedValue(start, "26.1", end),
    }


def test_D2_long_values_with_little_in_common_are_marked_as_a_whole() -> None:
    one, other = f"a {'b' * 60}", f"a {'c' * 60}"
    marked = sides(actual=one, wanted=other, recorded=other)
    assert marked == {
        "actual": html.MarkedValue("", one, ""),
        "wanted": html.MarkedValue("", other, ""),
    }


def test_D2_the_tree_groups_provisioners_and_proxies() -> None:
    tree = html.component_tree(conditions())
    assert [condition.type for condition in tree.conditions] == ["Ready"]
    assert [node.name for node in tree.children] == [
        "Control plane", "Operator", "Provisioners", "Workspace proxies",
    ]  # fmt: skip
    assert [node.name for node in tree.children[2].children] == ["gpu-eu", "cpu-us", "batch"]


def test_D2_proxies_have_a_panel_with_name_health_and_version() -> None:
    page = page_of(clean())
    assert "Workspace proxies sydney" in page.words
    assert re.search(r"sao-paulo ?v2\.25\.0\+11d0c4e ?unreachable", page.words)


@given(anything(Report))
def test_no_text_breaks_out_of_the_page(report: Report) -> None:
    page, view = page_of(report), view_of(report)
    groups = sum(len(findings.groups) for findings in view.findings)
    assert page.tags.count("article") == groups + len(view.conditions.groups)
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


def test_the_page_is_in_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for file in ("report.html.jinja", "report.css", "report.js"):
        assert f"coder_stack/operate/report/page/{file}" in names
