"""The pipelines in .github: valid, pinned, with few rights, one run at a time for a stack (D4)."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.paths import CHECKOUT
from sandbox.toolchain import CHECKS, ensure

WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))
EVERYTHING = [*WORKFLOWS, *sorted((CHECKOUT / ".github" / "actions").glob("*/action.yml"))]
OF_A_STACK = ("up", "preview", "drift", "reconcile")
WRITES = {
    "preview": {"comment": {"pull-requests"}},
    "drift": {"drift": {"issues"}},
}


def read(path: Path) -> dict[str, Any]:
    # YAML 1.1 takes the key `on` for true; it is of no interest here.
    return yaml.safe_load(path.read_text())


def named(name: str) -> dict[str, Any]:
    return read(CHECKOUT / ".github" / "workflows" / f"{name}.yml")


def test_D4_actionlint_has_nothing_to_say() -> None:
    linter = ensure(CHECKS)["actionlint"].path
    # Its helpers differ from machine to machine; the workflows' own scripts are short.
    command = [str(linter), "-shellcheck=", "-pyflakes=", "-no-color", *map(str, WORKFLOWS)]
    answer = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (0, "")


@pytest.mark.parametrize("path", EVERYTHING, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_D4_every_action_is_pinned_by_commit_with_its_version_beside(path: Path) -> None:
    used = re.findall(r"uses: (.+)", path.read_text())
    assert used
    for action in used:
        pinned = re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
        assert pinned or action.startswith("./.github/"), action


def test_D4_an_action_has_the_same_pin_everywhere() -> None:
    pins = {pin for path in EVERYTHING for pin in re.findall(r"([\w/-]+)@(\S+)", path.read_text())}
    assert len({name for name, _ in pins}) == len(pins)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_D4_workflows_may_read_and_only_named_jobs_may_write(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        writes = {right for right, how in job.get("permissions", {}).items() if how == "write"}
        assert writes == WRITES.get(path.stem, {}).get(name, set())
        assert job["timeout-minutes"]


@pytest.mark.parametrize("name", OF_A_STACK)
def test_D4_one_run_at_a_time_for_a_stack_whichever_workflow_it_is(name: str) -> None:
    job = named(name)["jobs"][name]
    assert job["concurrency"] == {"group": "stack-${{ matrix.stack }}", "cancel-in-progress": False}
    assert job["environment"] == "${{ matrix.stack }}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_value_from_outside_is_pasted_into_a_script(path: Path) -> None:
    """A branch or stack name in `${{ }}` inside a script would be run as part of it."""
    for job in read(path)["jobs"].values():
        for step in job["steps"]:
            script = step.get("run", "") + step.get("with", {}).get("script", "")
            assert "${{" not in script


def test_F7_the_update_does_not_preview_because_that_fails_while_coderd_is_down() -> None:
    scripts = [step.get("run", "") for step in named("up")["jobs"]["up"]["steps"]]
    (update,) = [script.split() for script in scripts if "pulumi up" in script]
    assert {"--refresh", "--run-program", "--skip-preview", "--yes"} <= {*update}


def test_D4_ci_runs_what_people_run() -> None:
    steps = named("ci")["jobs"]["test"]["steps"]
    assert steps[-1] == {"run": "bash .ci/run"}
