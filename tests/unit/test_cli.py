"""What all `coder-stack` commands share: help that helps, exit codes that mean one thing."""

import subprocess
import sys

import pytest

from sandbox.paths import CHECKOUT


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "coder_stack.cli", *arguments],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "mistake", [["bogus"], ["sandbox", "up", "--port", "x"], ["license", "inspect", "--bogus"]]
)
def test_a_mistake_on_the_command_line_is_1_because_2_means_drift(mistake: list[str]) -> None:
    refused = run(*mistake)
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert "Error" in refused.stderr


@pytest.mark.parametrize("group", [[], ["sandbox"], ["license"], ["doctor"]])
def test_help_names_the_commands_and_is_no_failure(group: list[str]) -> None:
    shown = run(*group, "--help")
    assert shown.returncode == 0
    assert "Usage: " in shown.stdout
