"""Every output of the stack is documented, and nothing else is."""

import ast
import re

from sandbox.paths import CHECKOUT


def test_docs_and_exports_name_the_same_outputs() -> None:
    page = (CHECKOUT / "docs" / "outputs.md").read_text().split("## Conditions")[0]
    cells = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    documented = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    tree = ast.parse((CHECKOUT / "coder_stack" / "outputs.py").read_text())
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "exports")
    (returned,) = [n for n in ast.walk(function) if isinstance(n, ast.Return)]
    assert isinstance(returned.value, ast.Dict)
    exported = [key.value for key in returned.value.keys if isinstance(key, ast.Constant)]
    assert documented == exported
