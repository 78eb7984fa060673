"""Every YAML snippet in the docs can be copied: a stack's config is complete and valid."""

import re
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from coder_stack.cli import command
from tests.unit.snippets import STACK_CONFIG, Snippet, kinds, snippets, snippets_in

app = command()

ALL = snippets()
IN_YAML = [each for each in ALL if each.language in ("yaml", "yml")]
CONFIGS = [each for each in IN_YAML if STACK_CONFIG in kinds(each.text)]


def complaints(snippet: Snippet, folder: Path) -> str:
    """What stands between the snippet and a stack file: empty if it can be copied as it is."""
    code = [line for line in snippet.text.splitlines() if not line.lstrip().startswith("#")]
    if code[0] != "config:":
        return f"{snippet.place}: the first line must be `config:`"
    file = folder / "Pulumi.snippet.yaml"
    file.write_text(snippet.text)
    result = CliRunner().invoke(app, ["config", "check", str(file)])
    return result.stderr if result.exit_code or result.stderr else ""


def test_F5_there_are_snippets_of_configs_and_of_other_things() -> None:
    assert len(CONFIGS) > 4
    assert len(IN_YAML) > len(CONFIGS)


@pytest.mark.parametrize("snippet", IN_YAML, ids=lambda each: each.place)
def test_F5_it_is_clear_what_a_snippet_is(snippet: Snippet) -> None:
    assert len(kinds(snippet.text)) == 1, "teach tests/unit/snippets.py what this is"


@pytest.mark.parametrize("snippet", CONFIGS, ids=lambda each: each.place)
def test_F5_a_config_can_be_copied_as_it_is(snippet: Snippet, tmp_path: Path) -> None:
    assert not complaints(snippet, tmp_path)


def test_F5_no_config_hides_in_a_block_of_another_language() -> None:
    setting = re.compile(r"^\s*(?:coder-stack:\w+|config):(?:\s|$)", re.MULTILINE)
    hidden = [each.place for each in ALL if each not in IN_YAML and setting.search(each.text)]
    assert not hidden


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("config:\n  coder-stack:controlPlane:\n    replicas: 2\n", ""),
        ("# a comment\nconfig:\n  coder-stack:controlPlane: {}\n", ""),
        ("coder-stack:controlPlane:\n  replicas: 2\n", "the first line must be `config:`"),
        ("config:\n  coder-stack:controlPlane:\n    repicas: 2\n", "did you mean replicas?"),
        ("config:\n  coder-stack:proxies:\n    - name: eu\n", "proxies[0].accessUrl: is required"),
        ("config:\n  kubernetes:context: prod\n", "every setting has its default"),
    ],
)
def test_F5_an_incomplete_snippet_is_noticed(text: str, said: str, tmp_path: Path) -> None:
    page = "1. In a list:\n\n" + textwrap.indent(f"```yaml\n{text}```\n", "   ")
    (snippet,) = snippets_in(page, "page.md")
    found = complaints(snippet, tmp_path)
    assert said in found
    assert bool(said) == bool(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("provisioners: []\n", [STACK_CONFIG]),
        ("coder-stack:drift: {}\n", [STACK_CONFIG]),
        ("apiVersion: v1\nkind: Secret\n", ["Kubernetes manifest"]),
        ("up:\n  script: [pulumi up]\n", ["GitLab pipeline"]),
        ("on: push\njobs: {}\n", ["GitHub workflow"]),
        ("- name: labs\n", []),
        ("# only a comment\n", []),
        ("something: else\n", []),
    ],
)
def test_F5_a_snippet_is_known_by_its_content(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected
