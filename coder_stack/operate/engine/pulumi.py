"""Run `pulumi preview`, `up` and `stack export` on the stacks of a project.

Uses the Automation API's events, with the local program (dynamic providers do not work in inline
programs). Every command names its stack, because `pulumi stack select` would change the selection
of the user's shell. Never asks Pulumi for secrets. process.py runs the command.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

import yaml
from pulumi.automation import PulumiCommand
from pulumi.automation.errors import CommandError, InvalidVersionError
from pulumi.automation.events import EngineEvent

from coder_stack.left_out import VARIABLE, engine_options
from coder_stack.operate.engine import process
from coder_stack.operate.engine.activity import Activity
from coder_stack.operate.engine.errors import (
    LockedError,
    OperationError,
    UnknownStackError,
    operation_error,
)
from coder_stack.operate.engine.events import EngineRun, read_events
from coder_stack.operate.engine.locks import judged, lock_folder, raise_if_locked
from coder_stack.operate.engine.recorded_outputs import recorded_outputs
from coder_stack.operate.engine.versions import newer_than_tried, too_old
from coder_stack.operate.report.model import LastUpdate

# As the Automation API itself does; the second one enables --event-log.
_ENVIRONMENT = {"PULUMI_AUTOMATION_API": "true", "PULUMI_DEBUG_COMMANDS": "true"}
_STACK_URN = "urn:pulumi:*::*::pulumi:pulumi:Stack::*"
_LOCK_RETRY_SECONDS = 3.0


class AbortedError(OperationError):
    """The engine aborted the operation; `run` holds everything up to the abort."""

    def __init__(self, cause: OperationError, run: EngineRun) -> None:
        super().__init__(str(cause), cause.remedy, cause.command)
        self.run = run


def _unwatched(stack: str, phase: str, detail: str) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Project:
    """A folder with a Pulumi.yaml, and the `pulumi` command on PATH."""

    folder: Path
    watch: Callable[[str, str, str], None] = _unwatched
    """Called several times a second with a stack's name, phase and detail."""
    note: str = ""
    """A sentence about the command's version, for runs that fail; mostly empty."""

    @classmethod
    def at(cls, folder: Path) -> "Project":
        """Raise OperationError if the command is missing or has the wrong version (V3)."""
        try:
            found = PulumiCommand().version
        except (OSError, InvalidVersionError, CommandError) as error:
            problem = "is not on PATH" if isinstance(error, OSError) else "has the wrong version"
            raise _unusable(f"The command pulumi {problem}.") from None
        if found is None:  # the user has switched the SDK's own check off
            return cls(folder)
        version = (found.major, found.minor, found.patch)
        if problem := too_old(version):
            raise _unusable(problem)
        return cls(folder, note=newer_than_tried(version))

    @cached_property
    def backend(self) -> str:
        """Return the URL of the backend that keeps the states."""
        return str(json.loads(self.run("whoami", "--json")).get("url", ""))

    @cached_property
    def name(self) -> str:
        """Return the name in Pulumi.yaml; empty if it cannot be read."""
        try:
            return str(yaml.safe_load((self.folder / "Pulumi.yaml").read_text())["name"])
        except (OSError, yaml.YAMLError, KeyError, TypeError):
            return ""

    def stack(self, name: str) -> "StackEngine":
        """Return the stack of that name without checking that it exists."""
        return StackEngine(self, name)

    def stack_names(self) -> list[str]:
        """Return the names of all stacks of this project in the backend."""
        return sorted(str(each["name"]) for each in self._stacks())

    def selected_stack(self) -> str:
        """Return the stack that Pulumi itself would take; raise OperationError without one."""
        # As in Pulumi, the variable outweighs `pulumi stack select`, even if it is empty.
        selected = os.environ.get("PULUMI_STACK")
        if selected is None:
            selected = next((str(each["name"]) for each in self._stacks() if each["current"]), "")
        if not selected:
            names = ", ".join(self.stack_names())
            raise OperationError(
                "No stack is selected; choose one with --stack or `pulumi stack select`, or take "
                f"--all. Stacks of this project: {names or 'none yet; see `pulumi stack init`'}."
            )
        return selected

    def run(self, *arguments: str) -> str:
        """Return the output of a command; raise OperationError if it fails."""
        done = self.call(arguments)
        if done.code:
            raise self.error(done)
        return done.stdout

    def call(
        self,
        arguments: Sequence[str],
        *,
        cancel: str = "",
        poll: Callable[[], None] | None = None,
        left_out: Sequence[str] = (),
    ) -> process.Completed:
        """Run a command to its end; raise OperationError only if it cannot be started."""
        command = ("pulumi", "--non-interactive", *arguments)
        env = {**os.environ, **_ENVIRONMENT}
        if left_out:
            env[VARIABLE] = ",".join(left_out)
        try:
            return process.run(command, cwd=self.folder, env=env, cancel=cancel, poll=poll)
        except OSError as error:
            raise OperationError(
                f"Cannot work in {self.folder}: {error.strerror}.",
                "Give the project's folder with --cwd.",
                "coder-stack drift --cwd FOLDER",
            ) from None

    def error(self, done: process.Completed, diagnostics: Iterable[str] = ()) -> OperationError:
        """Return the error that explains a failed command."""
        cause = operation_error(f"{done.stderr}\n{done.stdout}", diagnostics)
        if isinstance(cause, UnknownStackError):
            return UnknownStackError(cause.stack, self.stack_names())
        return cause

    def _stacks(self) -> list[dict[str, Any]]:
        return json.loads(self.run("stack", "ls", "--json"))


@dataclass(frozen=True)
class StackEngine:
    """One stack, and the Pulumi operations on it."""

    project: Project
    name: str
    left_out: tuple[str, ...] = ()
    """Clusters that its operations do not touch."""

    def without(self, clusters: Iterable[str]) -> "StackEngine":
        """Return the stack for operations that leave these clusters out."""
        return replace(self, left_out=tuple(clusters))

    def preview(self) -> EngineRun:
        """Return what a refresh finds and an update would do; write and lock nothing."""
        return self._operation("preview", *engine_options(self.left_out))

    def up(self, *, targets: Iterable[str]) -> EngineRun:
        """Refresh and update only these URNs.

        The engine refreshes and updates a resource before it refreshes those that depend on it. An
        older one (v3.220) refreshes and records all other resources too. The stack itself is always
        a target: without any target the engine would update everything.
        """
        options = chain.from_iterable(("--target", urn) for urn in (_STACK_URN, *targets))
        return self._operation("up", "--yes", "--skip-preview", *options)

    def raise_if_locked(self) -> None:
        """Raise LockedError while an update runs; a preview would show its half-done work.

        A preview takes no lock. A backend without lock files is asked by the cheapest command that
        takes one: a refresh preview of the stack resource alone. Two of these may collide, so it
        is tried twice. Then who took the lock has had time to release it, and if it has ended, the
        lock was left behind.
        """
        if locks := lock_folder(self.project.backend, self.project.name, self.name):
            raise_if_locked(locks)
            return
        options = ("--target", _STACK_URN, "--stack", self.name, "--color", "never")
        command = ("refresh", "--preview-only", "--run-program=false", *options)
        try:
            self.project.run(*command)
        except LockedError:
            time.sleep(_LOCK_RETRY_SECONDS)
            try:
                self.project.run(*command)
            except LockedError as error:
                raise judged(error) from None

    def last_update(self) -> LastUpdate | None:
        """Return the last operation that wrote outputs; None if the backend keeps no history."""
        command = ("stack", "history", "--json", "--page-size", "20", "--stack", self.name)
        listed: list[dict[str, Any]] = json.loads(self.project.run(*command) or "[]") or []
        written = [each for each in listed if each.get("kind") in ("update", "refresh")]
        if not written:
            return None
        newest = written[0]
        return LastUpdate(
            at=newest.get("endTime") or newest["startTime"],
            kind=newest["kind"],
            succeeded=newest.get("result") == "succeeded",
        )

    def outputs(self) -> dict[str, Any]:
        """Return what the last update recorded for people; secrets are masked."""
        return recorded_outputs(self.project.run("stack", "export", "--stack", self.name))

    def _operation(self, *arguments: str) -> EngineRun:
        cancel = "" if arguments[0] == "preview" else f"pulumi cancel --stack {self.name}"
        with tempfile.TemporaryDirectory(prefix="coder-stack-") as folder:
            log = Path(folder) / "events"
            options = ("--stack", self.name, "--color", "never", "--event-log", str(log))
            # With the program, the engine refreshes what is excluded and what is no target, too.
            with_program = "false" if self.left_out else "true"
            command = (*arguments, "--refresh", f"--run-program={with_program}", *options)
            log.touch()
            with log.open() as events:
                poll = partial(self._show_progress, Activity(arguments[0]), events)
                done = self.project.call(command, cancel=cancel, poll=poll, left_out=self.left_out)
            run = read_events(_read_log(log))
            if done.code:
                cause = self.project.error(done, run.errors)
                if isinstance(cause, LockedError):
                    raise cause
                raise AbortedError(cause, run)
            return run

    def _show_progress(self, activity: Activity, log: IO[str]) -> None:
        while True:
            begin = log.tell()
            line = log.readline()
            if not line.endswith("\n"):
                log.seek(begin)  # the engine is still writing it
                break
            activity.read(line)
        self.project.watch(self.name, activity.phase, activity.detail)


def _unusable(problem: str) -> OperationError:
    return OperationError(
        problem,
        "Install the Pulumi CLI (docs/toolchain.md), or use the sandbox's.",
        "coder-stack sandbox exec -- coder-stack drift",
    )


def _read_log(log: Path) -> list[EngineEvent]:
    event: Any = EngineEvent
    return [event.from_json(json.loads(line)) for line in log.read_text().splitlines()]
