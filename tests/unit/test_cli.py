"""What all `coder-stack` commands share: help that helps, exit codes that mean one thing."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from sandbox.paths import CHECKOUT


def run(
    *arguments: str, cwd: Path = CHECKOUT, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "coder_stack.cli", *arguments],
        cwd=cwd,
        env={**os.environ, **variables},
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


def test_F6_program_and_policy_pack_have_one_version() -> None:
    declared = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
    pack = yaml.safe_load((CHECKOUT / "policies/PulumiPolicy.yaml").read_text())
    shown = run("--version")
    assert (shown.returncode, shown.stdout) == (0, f"coder-stack {declared}\n")
    assert pack["version"] == declared


def test_F6_the_shell_completes_commands_and_the_names_of_stacks(tmp_path: Path) -> None:
    for stack in ("dev", "production", "prod.eu"):
        (tmp_path / f"Pulumi.{stack}.yaml").touch()

    def completed(line: str) -> list[str]:
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
        how = {"_CODER_STACK_COMPLETE": "complete_bash"}
        return run(cwd=tmp_path, **words, **how).stdout.split()

    assert completed("coder-stack rec") == ["reconcile"]
    assert completed("coder-stack drift --stack pro") == ["prod.eu", "production"]
