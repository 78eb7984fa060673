"""Fenced blocks of the Markdown pages, and what the YAML in them is."""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from coder_stack.settings.root_keys import FIELDS
from sandbox.paths import CHECKOUT

STACK_CONFIG = "stack config"

_FENCED = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    """A fenced block: the language behind the fence, and the text without its indentation."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """Every Markdown page of the repository, but not of tools' own folders such as .venv."""
    folders = [each for each in CHECKOUT.iterdir() if each.is_dir() and each.name[0] != "."]
    found = [page for folder in folders for page in folder.rglob("*.md")]
    return sorted([*CHECKOUT.glob("*.md"), *CHECKOUT.glob(".github/**/*.md"), *found])


def snippets_in(text: str, page: str) -> Iterator[Snippet]:
    for match in _FENCED.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Snippet(page, line, match[2].lower(), textwrap.dedent(match[3]))


def snippets() -> list[Snippet]:
    found = ((page, str(page.relative_to(CHECKOUT))) for page in pages())
    return [each for page, name in found for each in snippets_in(page.read_text(), name)]


def kinds(text: str) -> list[str]:
    """What a YAML text is, by its content; one answer if it is clear."""
    documents = list(yaml.safe_load_all(text))
    return [
        kind
        for kind, belongs in _KINDS.items()
        if documents and all(isinstance(each, dict) and belongs(each) for each in documents)
    ]


def _is_stack_config(document: Mapping[str, Any]) -> bool:
    keys = {str(key) for key in document}
    return "config" in keys or any(":" in key for key in keys) or keys <= set(FIELDS)


def _is_manifest(document: Mapping[str, Any]) -> bool:
    return {"apiVersion", "kind"} <= document.keys()


def _is_gitlab(document: Mapping[str, Any]) -> bool:
    return any(isinstance(job, dict) and "script" in job for job in document.values())


def _is_workflow(document: Mapping[str, Any]) -> bool:
    return "jobs" in document


_KINDS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    STACK_CONFIG: _is_stack_config,
    "Kubernetes manifest": _is_manifest,
    "GitLab pipeline": _is_gitlab,
    "GitHub workflow": _is_workflow,
}
