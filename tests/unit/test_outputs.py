"""Every output of the stack is documented, and nothing else is."""

import re
from unittest.mock import MagicMock

import pulumi
import pytest

from coder_stack.outputs import exports
from sandbox.paths import CHECKOUT


def test_docs_and_exports_name_the_same_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (CHECKOUT / "docs" / "outputs.md").read_text().split("## Conditions")[0]
    cells = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    documented = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    monkeypatch.setattr(pulumi.Output, "all", MagicMock())
    assert documented == list(exports(MagicMock()))
