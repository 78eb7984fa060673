"""`coder-stack outputs`: what a script reads of a stack and its parts (S1)."""

import json
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from coder_stack.cli import outputs as cli
from coder_stack.operate.engine.errors import UnknownStackError
from coder_stack.operate.engine.pulumi import Project, StackEngine

FOUND: dict[str, Any] = {"ready": "True", "provisioners": [{"name": "eu", "daemons": 2}]}


@pytest.fixture(autouse=True)
def pulumi(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stacks, of which `a` is deployed and selected."""

    def outputs(stack: StackEngine) -> dict[str, Any]:
        if stack.name not in ("a", "b"):
            raise UnknownStackError(stack.name, ["a", "b"])
        return FOUND if stack.name == "a" else {}

    monkeypatch.setattr(Project, "at", Project)
    monkeypatch.setattr(Project, "selected_stack", lambda _: "a")
    monkeypatch.setattr(StackEngine, "outputs", outputs)


def run(*arguments: str) -> Any:
    app = typer.Typer()
    cli.register(app)
    return CliRunner().invoke(app, list(arguments))


def test_S1_all_of_them_are_one_json_object() -> None:
    done = run()
    assert (done.exit_code, json.loads(done.stdout)) == (0, FOUND)


def test_S1_one_of_them_is_printed_alone_and_text_without_quotes() -> None:
    assert json.loads(run("provisioners", "--stack", "a").stdout) == FOUND["provisioners"]
    assert run("ready").stdout == "True\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["proxys"], "stack a has no output proxys; it has provisioners, ready"),
        (["ready", "-s", "b"], "stack b has no output ready; it was never deployed"),
    ],
)
def test_an_output_that_is_not_there_is_one_sentence(arguments: list[str], sentence: str) -> None:
    done = run(*arguments)
    assert (done.exit_code, done.stderr) == (1, f"error: {sentence}\n")


def test_a_stack_that_is_not_there_is_one_sentence() -> None:
    done = run("--stack", "c")
    assert done.exit_code == 1
    assert done.stderr.startswith("error: ")
    assert "`a`, `b`" in done.stderr
