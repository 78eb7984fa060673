"""What the docs say is what the program does, where that can be read off the program."""

import re
from pathlib import Path
from typing import get_args

import pytest

from coder_stack.coderd import errors
from coder_stack.coderd.license_problems import LicenseProblemReason
from coder_stack.coderd.reasons import Reason
from coder_stack.coderd.version_pages import readme, versions_page
from coder_stack.coderd.versions import TRIED
from coder_stack.conditions import ConditionReason
from coder_stack.explanations import reference_page
from sandbox.paths import CHECKOUT
from tests.unit.docs import table_rows

DOCS = sorted(
    page for place in ("", "docs/", "examples/") for page in CHECKOUT.glob(f"{place}*.md")
)


def test_every_reason_is_explained_and_no_other() -> None:
    in_use = {*map(str, Reason), *get_args(LicenseProblemReason), *get_args(ConditionReason)}
    assert set(table_rows("docs/reasons.md")) == in_use


def test_the_page_of_reasons_is_current() -> None:
    page = (CHECKOUT / "docs/reasons.md").read_text()
    assert page == reference_page(), "run: make docs"


def test_V1_the_range_of_versions_in_the_docs_is_current() -> None:
    assert (CHECKOUT / "docs/versions.md").read_text() == versions_page(), "run: make docs"
    page = (CHECKOUT / "README.md").read_text()
    assert page == readme(page), "run: make docs"
    assert f"Tried with the API of Coder {TRIED[0]} to {TRIED[-1]}" in page


def test_reasons_are_in_alphabetical_order_and_each_has_a_next_step() -> None:
    table = table_rows("docs/reasons.md")
    assert list(table) == sorted(table)
    assert all(row[1] and row[2] for row in table.values())


def test_what_the_docs_call_temporary_is_temporary() -> None:
    leaves = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.CoderdError) and not_abstract(value)
    ]
    for leaf in leaves:
        said = table_rows("docs/reasons.md")[leaf.reason][3] == "yes"
        assert said == (not leaf.permanent), leaf.__name__


def not_abstract(leaf: type[errors.CoderdError]) -> bool:
    return hasattr(leaf, "reason")


@pytest.mark.parametrize("page", ["docs/runbooks.md", "docs/pipelines.md"])
def test_F7_a_repair_does_not_preview_because_that_fails_while_coderd_is_down(page: str) -> None:
    repairs = re.findall(r"pulumi up [^`\]\n]*--refresh[^`\]\n]*", (CHECKOUT / page).read_text())
    assert repairs
    assert all({"--run-program", "--skip-preview", "--yes"} <= {*each.split()} for each in repairs)


def anchors(page: Path) -> set[str]:
    """What GitHub makes of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", page.read_text()):
        linked = page.parent / target if target else page
        assert linked.exists(), f"{page.name} links to {target}"
        assert not heading or heading in anchors(linked), f"{page.name} links to {target}#{heading}"
