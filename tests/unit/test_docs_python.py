"""Python in the docs: what it imports exists, and takes the arguments that it is given."""

import ast
import importlib
import inspect
from typing import Any

import pytest

from tests.unit.snippets import Snippet, snippets

IN_PYTHON = [each for each in snippets() if each.language == "python"]


def imported(tree: ast.Module) -> dict[str, Any]:
    """Import what the snippet imports by name."""
    return {
        name.name: getattr(importlib.import_module(node.module), name.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
    }


@pytest.mark.parametrize("snippet", IN_PYTHON, ids=lambda each: each.place)
def test_F5_calls_in_a_snippet_fit_the_signatures(snippet: Snippet) -> None:
    tree = ast.parse(snippet.text)
    known, checked = imported(tree), 0
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Name):
            assert call.func.id in known, f"{call.func.id} is not imported"
            keywords = {each.arg: None for each in call.keywords if each.arg}
            inspect.signature(known[call.func.id]).bind(*call.args, **keywords)
            checked += 1
    assert checked > 1
