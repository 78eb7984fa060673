"""`coder-stack drift`, `reconcile` and `status`: where reports go, and what is refused at once."""

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from coder_stack.cli import operate as cli

NO_PULUMI = "The command pulumi is not on PATH"
READY = '{"component": "stack", "type": "Ready", "status": "True", "reason": "AllReady"}'
STACK = f'{{"type": "pulumi:pulumi:Stack", "outputs": {{"conditions": [{READY}]}}}}'
UPDATE = '{"kind": "update", "endTime": "2027-01-01T06:00:00Z", "result": "succeeded"}'
STATUS = f"""#!/bin/sh
case "$*" in
  *version*) echo v3.220.0 ;;
  *history*) echo '[{UPDATE}]' ;;
  *"stack ls"*) cat "$(dirname "$0")/stacks.json" ;;
  *"--stack b"*) echo '{{"deployment": {{}}}}' ;;
  *"--stack aa"*) echo "error: no stack named 'aa' found" >&2; exit 255 ;;
  *) echo '{{"deployment": {{"resources": [{STACK}]}}}}' ;;
esac
"""


@pytest.fixture
def pulumi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a `pulumi` on PATH that only knows outputs; stack `b` has none."""
    program = tmp_path / "bin" / "pulumi"
    program.parent.mkdir()
    program.write_text(STATUS)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.delenv("PULUMI_STACK", raising=False)
    select(tmp_path, "a")
    return tmp_path


def select(folder: Path, stack: str) -> None:
    """As `pulumi stack select` does; no stack of that name: none is selected."""
    stacks = [{"name": name, "current": name == stack} for name in ("b", "a")]
    (folder / "bin" / "stacks.json").write_text(json.dumps(stacks))


def run(*arguments: str) -> Any:
    app = typer.Typer()
    cli.register(app)
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("command", ["drift", "reconcile", "status"])
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--all", "-s", "a"], "give either --stack (repeatable) or --all"),
        (
            ["--stack", "a", "--json", "-", "--html", "-"],
            "two reports cannot be written to the same file",
        ),
    ],
)
def test_a_mistake_in_the_options_is_one_sentence(
    command: str, options: list[str], sentence: str
) -> None:
    done = run(command, *options)
    assert (done.exit_code, done.stderr) == (1, f"error: {sentence}\n")


def test_D2_one_stack_is_one_object_and_several_are_a_list(pulumi: Path) -> None:
    one = run("status", "--stack", "a", "--cwd", str(pulumi), "--json", "-")
    assert (one.exit_code, json.loads(one.stdout)["stack"]) == (0, "a")
    every = run("status", "--all", "--cwd", str(pulumi), "--json", "-")
    assert every.exit_code == 1, "an error outweighs the rest"
    assert [each["result"] for each in json.loads(every.stdout)] == ["recorded", "error"]


@pytest.mark.parametrize("options", [[], ["-s", "a"], ["--stack", "a"]])
def test_F6_the_selected_stack_is_taken_and_is_one_object(pulumi: Path, options: list[str]) -> None:
    done = run("status", *options, "--cwd", str(pulumi), "--json", "-")
    assert (done.exit_code, json.loads(done.stdout)["stack"]) == (0, "a")


def test_F6_the_variable_outweighs_the_selection_as_in_pulumi(
    pulumi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    select(pulumi, "b")
    monkeypatch.setenv("PULUMI_STACK", "a")
    done = run("status", "--cwd", str(pulumi), "--json", "-")
    assert (done.exit_code, json.loads(done.stdout)["stack"]) == (0, "a")


@pytest.mark.parametrize("command", ["drift", "reconcile", "status"])
def test_F6_without_a_selection_the_next_step_and_the_stacks_are_named(
    pulumi: Path, command: str
) -> None:
    select(pulumi, "none")
    done = run(command, "--cwd", str(pulumi))
    assert done.exit_code == 1
    assert "choose one with --stack or `pulumi stack select`, or take --all." in done.stderr
    assert "Stacks of this project: a, b." in done.stderr


def test_F6_an_unknown_stack_lists_those_that_exist(pulumi: Path) -> None:
    done = run("status", "--stack", "aa", "--cwd", str(pulumi), "--json", "-")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["error"] == (
        "There is no stack `aa` in this backend. Did you mean `a`? "
        "Stacks of this project: `a`, `b`."
    )


def test_F6_progress_is_on_stderr_and_ends_with_the_elapsed_time(pulumi: Path) -> None:
    done = run("status", "--cwd", str(pulumi), "--json", "-")
    assert re.fullmatch(r"==> a: started\n==> a: not checked now after \d+ s\n", done.stderr)


def test_D2_every_report_is_written_and_the_text_stays(pulumi: Path) -> None:
    files = {name: pulumi / f"report.{name}" for name in ("json", "markdown", "html", "metrics")}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    done = run("status", "--stack", "a", "--cwd", str(pulumi), *options)
    assert "stack a: not checked now, ready" in done.stdout
    assert "As of the last update at 1 January 2027, 06:00 UTC, not checked now." in done.stdout
    assert all("a" in file.read_text() for file in files.values())
    assert sorted(path.name for path in pulumi.iterdir() if path.is_file()) == sorted(
        file.name for file in files.values()
    )


def test_a_file_that_cannot_be_written_is_one_sentence(pulumi: Path) -> None:
    nowhere = pulumi / "nowhere" / "report.json"
    done = run("status", "--stack", "a", "--cwd", str(pulumi), "--json", str(nowhere))
    assert done.exit_code == 1
    assert f"error: cannot write {nowhere}: No such file or directory." in done.stderr


def test_without_pulumi_nothing_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run("drift", "--stack", "a", "--cwd", str(tmp_path))
    assert (done.exit_code, NO_PULUMI in done.stderr) == (1, True)


def test_a_missing_folder_is_one_sentence(pulumi: Path) -> None:
    done = run("status", "--stack", "a", "--cwd", str(pulumi / "nowhere"))
    assert done.exit_code == 1
    assert "Cannot work in" in done.stdout
