"""What the package shows, and what it keeps out."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import coder_stack.coderd as package

FOLDER = Path(package.__path__[0])
MODULES = sorted(
    [package.__name__]
    + [found.name for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
)


def imports_of(module: str) -> set[str]:
    spec = importlib.import_module(module).__spec__
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text())
    plain = [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
    named = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    return {name.partition(".")[0] for name in plain + named}


@pytest.mark.parametrize("module", MODULES)
def test_exported_names_are_sorted_and_exist(module: str) -> None:
    loaded = importlib.import_module(module)
    if module.endswith(".endpoints"):
        return  # a folder, not an interface
    names: list[str] = loaded.__all__

    assert names == sorted(names)
    assert len(set(names)) == len(names)
    assert all(hasattr(loaded, name) for name in names)


def test_one_module_knows_the_http_library() -> None:
    users = [module for module in MODULES if "httpx" in imports_of(module)]

    assert users == ["coder_stack.coderd.exchange"]


def test_importing_the_client_imports_nothing_of_pulumi() -> None:
    code = "import sys, coder_stack.coderd; print(*{m.partition('.')[0] for m in sys.modules})"

    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()

    assert "httpx" in loaded
    assert not {"pulumi", "pulumi_kubernetes", "pulumi_policy", "kubernetes"} & set(loaded)
