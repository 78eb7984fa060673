"""The HTML page is well-formed and self-contained, and escapes all text of a report (D2)."""

import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given

from coder_stack.operate.report import html
from coder_stack.operate.report.model import Difference, Report
from sandbox.paths import CHECKOUT
from tests.unit.operate.reports import SECRET, any_report, broken, clean, drifted

VOID = {"meta", "use", "rect", "path", "br"}


class Page(HTMLParser):
    """A strict parser: every tag must be closed by its own end tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text: list[str] = []
        self.title = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self.open and self.open[-1] == "title":
            self.title += data


def test_D2_the_page_needs_nothing_from_outside_and_no_script() -> None:
    page = Page(html.render([drifted(), clean(), broken()]))
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    loaded = [value for _, name, value in page.attributes if name in ("src", "href", "action")]
    assert loaded
    assert all(str(value).startswith("#") for value in loaded)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert "url(" not in "".join(page.text)


def test_D2_several_stacks_are_summed_up_with_links_to_their_sections() -> None:
    page = Page(html.render([drifted(), clean(), broken()]))
    assert page.title == "3 stacks: 1 could not be checked, 1 drifted, 1 clean"
    ids = {value for _, name, value in page.attributes if name == "id"}
    links = {str(v).removeprefix("#") for t, n, v in page.attributes if (t, n) == ("a", "href")}
    assert links == {"stack-1", "stack-2", "stack-3"}
    assert links <= ids


def test_D2_a_secret_is_masked_even_if_a_report_holds_it() -> None:
    text = html.render([drifted()])
    assert SECRET not in text
    assert text.count("secret, not shown") == 2


def test_D2_the_part_of_a_value_that_differs_is_marked() -> None:
    recorded, actual = html.mark_difference(
        Difference(path="x", recorded="coder:v2.26.0", actual="coder:v2.1")
    )
    assert (recorded, actual) == (
        html.MarkedValue("coder:v2.", "26.0", ""),
        html.MarkedValue("coder:v2.", "1", ""),
    )
    assert html.mark_difference(Difference(path="x", recorded="a", actual=None)) == (
        html.MarkedValue("", "a", ""),
        None,
    )


def test_D2_the_tree_groups_provisioners_and_proxies() -> None:
    tree = html.component_tree(drifted().conditions)
    assert [condition.type for condition in tree.conditions] == ["Ready"]
    assert [node.name for node in tree.children] == [
        "Control plane", "Operator", "Provisioners", "Workspace proxies",
    ]  # fmt: skip
    provisioners = tree.children[2]
    assert [(node.name, node.holds) for node in provisioners.children] == [
        ("gpu-eu", False),
        ("cpu-us", True),
    ]


@given(any_report())
def test_no_text_breaks_out_of_the_page(report: Report) -> None:
    page = Page(html.render([report]))
    assert "script" not in page.tags
    assert page.tags.count("article") == sum(r.ignored_by is None for r in report.resources)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


def test_the_page_is_in_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "coder_stack/operate/report/page/report.html.jinja" in names
    assert "coder_stack/operate/report/page/report.css" in names
