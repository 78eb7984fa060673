"""The locks of Python packages: what a user installs, and what development needs on top."""

import importlib.util
import re
import tomllib

import pytest

from coder_stack.cli import command
from sandbox.paths import CHECKOUT

PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())


def pins(name: str) -> dict[str, str]:
    """Package and all that the lock says of it: version, marker, hashes."""
    text = (CHECKOUT / name).read_text()
    return {
        each.partition("==")[0]: each.rstrip("\\\n ")
        for each in re.split(r"\n(?=[^ ])", text.strip())
    }


def names(requirements: list[object]) -> set[str]:
    return {re.split(r"[^\w-]", each.lower())[0] for each in requirements if isinstance(each, str)}


def test_a_user_gets_the_versions_that_were_tested() -> None:
    user, development = pins("requirements.lock"), pins("requirements-dev.lock")
    assert user.items() < development.items()


def test_a_user_installs_nothing_for_sandbox_tests_and_checks() -> None:
    """Pulumi's language host lists the packages of the environment for every operation."""
    declared = names(PYPROJECT["project"]["dependencies"])
    only_for_development = names(PYPROJECT["dependency-groups"]["dev"]) - declared
    installed = pins("requirements.lock").keys()
    assert declared <= installed
    # The program needs these through others.
    assert installed & only_for_development <= {"grpcio", "cryptography", "markdown-it-py"}
    assert "\n-r requirements.lock\n" in (CHECKOUT / "requirements.txt").read_text()
    dockerfile = (CHECKOUT / "Dockerfile").read_text()
    assert "requirements-dev.lock" not in dockerfile


def test_a_command_of_the_sandbox_names_what_installs_its_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name != "psutil" and found(name))
    with pytest.raises(SystemExit) as refused:
        command(["doctor"])
    assert refused.value.code == 1
    assert capsys.readouterr().err == "error: doctor needs more packages: make .venv/.ready-dev\n"
    assert [each.name for each in command([]).registered_groups if each.name == "sandbox"] == []
