"""What several files of engine tests ask for."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.cluster import stop_after_process
from sandbox.paths import SandboxPaths
from tests.engine.clone import Clone
from tests.engine.drifting import Drifting
from tests.engine.watching import hearing
from tests.processes import processes_in


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coderd that does not answer is given up on within seconds, as whoever tests it wants."""
    monkeypatch.setenv("CODER_STACK_DEADLINE", "5")


@pytest.fixture
def heard(stack: Drifting) -> Iterator[list[dict[str, Any]]]:
    """What the stack's webhook is told."""
    with hearing(stack) as heard:
        yield heard


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Clone]:
    """A fresh copy of the checkout, whose sandbox is not up yet."""
    folder = tmp_path / "clone"
    folder.mkdir()
    clone = Clone(folder)
    home = SandboxPaths(folder / ".sandbox")
    # The guard of a run that is killed; it ends when this folder does.
    home.folder.mkdir()
    stop_after_process(home, os.getpid())
    yield clone
    clone.run("sandbox", "down")
    assert processes_in(clone.folder) == []
