"""`coder-stack drift`, `reconcile` and `status`: where reports go, and what is refused at once."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from coder_stack.cli import operate as cli

NO_PULUMI = "The command pulumi is not on PATH"
READY = '{"component": "stack", "type": "Ready", "status": "True", "reason": "AllReady"}'
STATUS = f"""#!/bin/sh
case "$*" in
  *version*) echo v3.220.0 ;;
  *"stack ls"*) echo '[{{"name": "b"}}, {{"name": "a"}}]' ;;
  *"--stack b"*) echo '{{}}' ;;
  *) echo '{{"conditions": [{READY}]}}' ;;
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
    return tmp_path


def run(*arguments: str) -> Any:
    app = typer.Typer()
    cli.register(app)
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("command", ["drift", "reconcile", "status"])
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "give either --stack (repeatable) or --all"),
        (["--all", "--stack", "a"], "give either --stack (repeatable) or --all"),
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
    assert [each["result"] for each in json.loads(every.stdout)] == ["clean", "error"]


def test_D2_every_report_is_written_and_the_text_stays(pulumi: Path) -> None:
    files = {name: pulumi / f"report.{name}" for name in ("json", "markdown", "html", "metrics")}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    done = run("status", "--stack", "a", "--cwd", str(pulumi), *options)
    assert "stack a: clean, ready" in done.stdout
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
