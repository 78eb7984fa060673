"""What the docs say is what the program does, where that can be read off the program."""

import json
import re
from pathlib import Path

import pytest
import yaml

from coder_stack.coderd import errors
from coder_stack.coderd.reasons import Reason
from coder_stack.settings import Settings, load
from sandbox.home import CHECKOUT

DOCS = sorted([*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/*.md")])


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


def test_the_example_config_names_every_field_and_is_valid() -> None:
    text = (CHECKOUT / "Pulumi.example.yaml").read_text()
    config = yaml.safe_load(text)["config"]
    load({key: json.dumps(value) for key, value in config.items()}, "coder-stack")
    everything = text.replace("    # ", "    ").replace("      # ", "      ")
    for name in field_names(Settings.model_json_schema(by_alias=True)):
        assert re.search(rf"\b{name}:", everything), f"{name} is missing"


def field_names(schema: dict[str, object]) -> set[str]:
    """Every property name in a JSON schema."""
    found: set[str] = set()
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            found |= set(value)
        if isinstance(value, dict):
            found |= field_names(value)
    return found
