"""Run `pulumi up` and `pulumi destroy` of the stack `sandbox`.

Commands are printed before they run, so that users can repeat them. The runner is that of
`coder-stack reconcile`, so that an interrupt leaves no lock here either.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from typing import NoReturn

from rich.console import Console

from coder_stack.operate.engine import process
from coder_stack.operate.engine.recorded_outputs import recorded_outputs
from sandbox import report, two_clusters
from sandbox.engine import STACK, Engine, for_people
from sandbox.errors import SandboxError
from sandbox.paths import CHECKOUT, SandboxPaths

_CANCEL = f".venv/bin/coder-stack sandbox exec -- pulumi cancel --yes --stack {STACK}"


def execute(engine: Engine, paths: SandboxPaths, command: Sequence[str]) -> NoReturn:
    """Become a command in the sandbox's environment: its signals and exit code are its own."""
    paths.state.mkdir(parents=True, exist_ok=True)
    environment = engine.environment(paths) | for_people(paths)
    program = shutil.which(command[0], path=environment["PATH"])
    if program is None:
        raise SandboxError(f"there is no program {command[0]!r} on PATH")
    sys.stdout.flush()
    os.chdir(CHECKOUT)
    os.execve(program, [*command], environment)  # noqa: S606 - there is no shell in between


def deploy(engine: Engine, paths: SandboxPaths, console: Console) -> None:
    """Run `pulumi up`, then show conditions and outputs; raise Interrupted after a signal."""
    # With the program, the engine would look for objects where they shall be, find none, and forget
    # those in the cluster that the proxy leaves.
    program = () if two_clusters.is_moving(paths) else ("--run-program",)
    refresh = ("--yes", "--skip-preview", "--refresh", *program)
    options = (*refresh, "--stack", STACK, "--suppress-outputs")
    with process.interruptible(_say):
        _pulumi(engine, paths, "stack", "select", "--create", STACK)
        _announced(engine, paths, console, "up", *options)
        shown = _pulumi(engine, paths, "stack", "export", "--stack", STACK)
    outputs = recorded_outputs(shown.stdout)
    console.print(report.conditions(outputs))
    for sentence in report.failures(outputs):
        console.print(f"  - {sentence}", markup=False, highlight=False, soft_wrap=True)
    console.print(report.facts(outputs, STACK))


def destroy(engine: Engine, paths: SandboxPaths, console: Console) -> None:
    """Run `pulumi destroy`, for a cluster that outlives the sandbox."""
    with process.interruptible(_say):
        _announced(engine, paths, console, "destroy", "--yes", "--skip-preview", "--stack", STACK)


def _announced(engine: Engine, paths: SandboxPaths, console: Console, *arguments: str) -> None:
    """Print an operation that takes the stack's lock, and run it with its own output."""
    console.print(f"[bold]$ pulumi {' '.join(arguments)}[/]", highlight=False)
    _pulumi(engine, paths, *arguments, cancel=_CANCEL)


def _pulumi(
    engine: Engine, paths: SandboxPaths, *arguments: str, cancel: str = ""
) -> process.Completed:
    paths.state.mkdir(parents=True, exist_ok=True)
    command = [str(engine.pulumi.path), *arguments, "--non-interactive"]
    environment = engine.environment(paths)
    done = process.run(command, cwd=CHECKOUT, env=environment, cancel=cancel, capture=not cancel)
    if done.code != 0:
        said = "; see its output above" if cancel else f": {done.stderr.strip()}"
        raise SandboxError(f"pulumi {arguments[0]} ended with code {done.code}{said}")
    return done


def _say(line: str) -> None:
    sys.stderr.write(f"==> {line}\n")
