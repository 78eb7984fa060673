"""What the docs say is what the program does, where that can be read off the program."""

import re
from pathlib import Path
from typing import get_args

import pytest

from coder_stack.coderd import errors
from coder_stack.coderd.preflight import FindingReason
from coder_stack.coderd.reasons import Reason
from sandbox.home import CHECKOUT

DOCS = sorted(
    page for place in ("", "docs/", "examples/") for page in CHECKOUT.glob(f"{place}*.md")
)


def rows(page: str) -> dict[str, list[str]]:
    """The first table of a page, by its first column."""
    lines = [line for line in (CHECKOUT / page).read_text().splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row for row in cells}


def test_every_reason_is_explained_and_no_other() -> None:
    assert set(rows("docs/reasons.md")) == {str(reason) for reason in Reason}


def test_what_the_docs_call_temporary_is_temporary() -> None:
    leaves = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.CoderdError) and not_abstract(value)
    ]
    for leaf in leaves:
        said = rows("docs/reasons.md")[leaf.reason][3] == "yes"
        assert said == (not leaf.permanent), leaf.__name__


def not_abstract(leaf: type[errors.CoderdError]) -> bool:
    return hasattr(leaf, "reason")


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_reason_of_a_license_that_will_not_do_is_in_the_runbooks() -> None:
    page = (CHECKOUT / "docs/runbooks.md").read_text()
    for reason in get_args(FindingReason):
        assert f"`{reason}`" in page, reason
