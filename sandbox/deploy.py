"""Run the program in the sandbox: `pulumi up` of the stack `sandbox`, and its end.

Only plain Pulumi commands, printed before they run, so that anyone can repeat them by hand.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from sandbox import report
from sandbox.engine import STACK, Engine, for_people
from sandbox.errors import SandboxError
from sandbox.home import CHECKOUT, Home


def run(engine: Engine, home: Home, command: Sequence[str]) -> int:
    """Run a command in the sandbox's environment and in the checkout; its output is the user's."""
    home.state.mkdir(parents=True, exist_ok=True)
    environment = engine.environment(home) | for_people(home)
    program = shutil.which(command[0], path=environment["PATH"])
    if program is None:
        raise SandboxError(f"there is no program {command[0]!r} on PATH")
    return subprocess.call([program, *command[1:]], env=environment, cwd=_folder())


def deploy(engine: Engine, home: Home, console: Console) -> None:
    """`pulumi up`, then what came out of it."""
    _pulumi(engine, home, console, "stack", "select", "--create", STACK, quiet=True)
    options = (
        "--yes",
        "--skip-preview",
        "--refresh",
        "--run-program",
        "--stack",
        STACK,
        "--suppress-outputs",
    )
    _pulumi(engine, home, console, "up", *options)
    outputs = _outputs(engine, home)
    console.print(report.conditions(outputs))
    for sentence in report.complaints(outputs):
        console.print(f"  - {sentence}", markup=False, highlight=False, soft_wrap=True)
    console.print(report.facts(outputs, STACK))


def destroy(engine: Engine, home: Home, console: Console) -> None:
    """`pulumi destroy`, for a cluster that outlives the sandbox."""
    _pulumi(engine, home, console, "destroy", "--yes", "--skip-preview", "--stack", STACK)


def _pulumi(
    engine: Engine, home: Home, console: Console, *arguments: str, quiet: bool = False
) -> None:
    if not quiet:
        console.print(f"[bold]$ pulumi {' '.join(arguments)}[/]", highlight=False)
    home.state.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [str(engine.pulumi.path), *arguments, "--non-interactive"],
        env=engine.environment(home),
        cwd=_folder(),
        capture_output=quiet,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = f": {done.stderr.strip()}" if quiet else "; what it printed above says why"
        raise SandboxError(f"pulumi {arguments[0]} ended with code {done.returncode}{said}")


def _outputs(engine: Engine, home: Home) -> dict[str, Any]:
    answer = subprocess.run(
        [str(engine.pulumi.path), "stack", "output", "--json", "--stack", STACK],
        env=engine.environment(home),
        cwd=_folder(),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout)


def _folder() -> str:
    return os.fspath(CHECKOUT)
