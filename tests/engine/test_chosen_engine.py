"""The engine that the engine tests run on is the chosen one, and no other.

Without this, a mistake in the choice would let `make engines` pass on the default engine.
"""

import os
import subprocess
from pathlib import Path

import pytest

from coder_stack.operate.engine.versions import TRIED
from sandbox.engine import Engine
from sandbox.toolchain.chosen import ENGINE_VARIABLE
from tests.engine_project import Project

pytestmark = pytest.mark.engine
PROGRAM = 'import pulumi\n\npulumi.export("greeting", "hello")\n'


@pytest.fixture
def small(engine: Engine, tmp_path: Path) -> Project:
    """A stack with an output and nothing else."""
    return Project.create(engine, None, tmp_path, PROGRAM)


def test_V3_the_tests_run_on_the_engine_that_was_chosen(engine: Engine) -> None:
    said = subprocess.run(["pulumi", "version"], capture_output=True, text=True, check=True)
    chosen = os.environ.get(ENGINE_VARIABLE) or engine.pulumi.version

    assert said.stdout.strip() == f"v{engine.pulumi.version}"
    assert engine.pulumi.version == chosen.removeprefix("v")


def test_V3_the_state_names_the_engine_that_wrote_it(engine: Engine, small: Project) -> None:
    small.up()

    assert small.state()["manifest"]["version"] == f"v{engine.pulumi.version}"


def test_V3_plain_pulumi_stops_if_the_project_needs_a_newer_engine(small: Project) -> None:
    """The program itself never runs: an older engine may not know what it asks for."""
    file = small.folder / "Pulumi.yaml"
    declared = file.read_text()
    file.write_text(declared.replace(TRIED[0].removeprefix("v"), "3.999.0"))

    outcome, failure = small.attempt("preview")

    assert failure is not None
    assert ">=3.999.0" in f"{failure}"
    assert outcome.steps == []
