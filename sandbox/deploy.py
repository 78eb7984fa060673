"""Run `pulumi up` and `pulumi destroy` of the stack `sandbox`.

Commands are printed before they run, so that users can repeat them.
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
from sandbox.paths import CHECKOUT, SandboxPaths


def run(engine: Engine, paths: SandboxPaths, command: Sequence[str]) -> int:
    """Run a command in the sandbox's environment and return its exit code."""
    paths.state.mkdir(parents=True, exist_ok=True)
    environment = engine.environment(paths) | for_people(paths)
    program = shutil.which(command[0], path=environment["PATH"])
    if program is None:
        raise SandboxError(f"there is no program {command[0]!r} on PATH")
    return subprocess.call([program, *command[1:]], env=environment, cwd=_folder())


def deploy(engine: Engine, paths: SandboxPaths, console: Console) -> None:
    """Run `pulumi up`, then show conditions and outputs."""
    _pulumi(engine, paths, console, "stack", "select", "--create", STACK, quiet=True)
    options = (
        "--yes",
        "--skip-preview",
        "--refresh",
        "--run-program",
        "--stack",
        STACK,
        "--suppress-outputs",
    )
    _pulumi(engine, paths, console, "up", *options)
    outputs = _outputs(engine, paths)
    console.print(report.conditions(outputs))
    for sentence in report.failures(outputs):
        console.print(f"  - {sentence}", markup=False, highlight=False, soft_wrap=True)
    console.print(report.facts(outputs, STACK))


def destroy(engine: Engine, paths: SandboxPaths, console: Console) -> None:
    """Run `pulumi destroy`, for a cluster that outlives the sandbox."""
    _pulumi(engine, paths, console, "destroy", "--yes", "--skip-preview", "--stack", STACK)


def _pulumi(
    engine: Engine, paths: SandboxPaths, console: Console, *arguments: str, quiet: bool = False
) -> None:
    if not quiet:
        console.print(f"[bold]$ pulumi {' '.join(arguments)}[/]", highlight=False)
    paths.state.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [str(engine.pulumi.path), *arguments, "--non-interactive"],
        env=engine.environment(paths),
        cwd=_folder(),
        capture_output=quiet,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = f": {done.stderr.strip()}" if quiet else "; see its output above"
        raise SandboxError(f"pulumi {arguments[0]} ended with code {done.returncode}{said}")


def _outputs(engine: Engine, paths: SandboxPaths) -> dict[str, Any]:
    answer = subprocess.run(
        [str(engine.pulumi.path), "stack", "output", "--json", "--stack", STACK],
        env=engine.environment(paths),
        cwd=_folder(),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout)


def _folder() -> str:
    return os.fspath(CHECKOUT)
