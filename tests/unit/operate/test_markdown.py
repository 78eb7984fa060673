"""The Markdown report, read by a Markdown parser as GitHub would read it (D2)."""

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from coder_stack.operate.report import markdown
from coder_stack.operate.report.model import Difference, Report
from tests.unit.operate.reports import (
    SECRET,
    any_report,
    any_text,
    broken,
    clean,
    drifted,
    resource,
)

ALLOWED_TAGS = {
    "details", "summary", "code", "h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td",
    "strong", "ul", "li", "blockquote", "br",
}  # fmt: skip


class Page(HTMLParser):
    """The rendered page: its tags, and each table as rows of text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self.in_cell = False
        self.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not attrs, "we write no attributes"
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.in_cell = True
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = self.in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.in_cell:
            self.tables[-1][-1][-1] += data

    def headed(self, title: str) -> list[list[str]]:
        """Return the rows of the table that has such a column."""
        found = [table for table in self.tables if title in map(str.strip, table[0])]
        return [[cell.strip() for cell in row] for row in found[0][1:]] if found else []


def test_D2_the_result_comes_first() -> None:
    text = markdown.render([drifted(), clean(), broken()])
    assert text.startswith("## ❌ 3 stacks")
    assert "1 could not be checked, 1 drifted, 1 clean, 1 not ready" in Page(text).text


def test_D2_each_resource_has_its_cause_and_each_field_both_values() -> None:
    page = Page(markdown.render([drifted()]))
    causes = {row[2]: (row[0], row[3]) for row in page.headed("Next step")}
    assert causes["gpu-eu-key ProvisionerKey"] == (
        "Key `gpu-eu-3f9a` was deleted in coderd.",
        "Next: Repair it. coder-stack reconcile --stack production",
    )
    assert "coder-pdb Deployment" not in causes, "ignored resources have their own table"
    assert ["coder", "spec.replicas", "1", "none", "3"] in page.headed("Wanted")
    assert "Under test by us. (until 2027-06-30)" in page.text


def test_D2_failing_conditions_and_expired_rules_are_listed() -> None:
    page = Page(markdown.render([drifted()]))
    assert {row[0] for row in page.headed("Meaning")} == {"False", "Unknown"}
    assert "*::coder-hpa (until 2027-02-01): Load test in spring." in page.text
    assert ["Grace begins", "25 March 2027", "in 24 days"] in page.headed("License")


def test_D2_a_secret_is_masked_even_if_a_report_holds_it() -> None:
    text = markdown.render([drifted()])
    assert SECRET not in text
    masked = ["gpu-eu-key-secret", "data.key", "[secret]", "none", "[secret]"]
    assert masked in Page(text).headed("Wanted")


@pytest.mark.parametrize(("count", "note"), [(300, "fields left out"), (20_000, "Too long")])
def test_D2_a_long_report_still_fits_into_a_comment(count: int, note: str) -> None:
    every = [
        resource(f"r{i}", properties=(Difference(path="x", recorded="y" * 300, actual="z"),))
        for i in range(300)
    ]
    report = clean().model_copy(update={"result": "drift", "resources": tuple(every)})
    text = markdown.render([report] * (count // 300))
    assert len(text) < 65_536
    assert note in text


@given(any_report())
def test_no_text_breaks_out_of_its_cell(report: Report) -> None:
    page = Page(markdown.render([report]))
    assert page.tags <= ALLOWED_TAGS
    for table in page.tables:
        assert {len(row) for row in table} == {len(table[0])}


@given(any_text())
def test_a_cause_reads_as_it_was_written(cause: str) -> None:
    report = clean().model_copy(update={"resources": (resource("r", cause=cause),)})
    [row] = Page(markdown.render([report])).headed("Next step")
    assert list(readable(row[0])) == list(readable(cause))


@given(any_text())
def test_nobody_is_mentioned(cause: str) -> None:
    report = clean().model_copy(update={"resources": (resource("r", cause=f"@someone {cause}"),)})
    assert "@someone" not in markdown.render([report])


def readable(text: str) -> Iterator[str]:
    """Return the printable characters, without those that replace others."""
    return (char for char in text if char.isprintable() and char not in " ↵�")
