"""What the tests write and read in place of Pulumi's CLI is what the CLI would."""

import json
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.engine_project import Project

pytestmark = pytest.mark.engine
PROGRAM = """
import pulumi

config = pulumi.Config()
whole = {"plain": config.require("plain"), "secret": config.require_secret("secret"), "number": 1}
pulumi.export("whole", whole)
pulumi.export("secrets", pulumi.Output.secret([1, {"text": "hidden"}]))
"""
SECRET = "Ünsaid: 1"


def test_state_outputs_and_config_are_as_the_cli_shows_them(engine: Engine, tmp_path: Path) -> None:
    """The second stack of a process is a copy of the first."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    Project.create(engine, None, tmp_path / "first", PROGRAM)
    project = Project.create(engine, None, tmp_path / "second", PROGRAM)
    project.set_config("plain", "true")
    project.set_config("secret", SECRET, secret=True)
    project.up()

    state = json.loads(project.pulumi("stack", "export", "--show-secrets").stdout)
    assert project.state() == state["deployment"]
    outputs = json.loads(project.pulumi("stack", "output", "--json", "--show-secrets").stdout)
    assert project.outputs() == outputs
    assert outputs["whole"]["secret"] == SECRET
    config = json.loads(project.pulumi("config", "--json", "--show-secrets").stdout)
    values = {key: (each["value"], each["secret"]) for key, each in config.items()}
    assert values == {"coder-stack:plain": ("true", False), "coder-stack:secret": (SECRET, True)}
