"""Run `pulumi preview`, `up` and `stack output` on the stacks of a project.

Uses the Automation API's command and events, with the local program (dynamic providers do not work
in inline programs). Every command names its stack, because `pulumi stack select` would change the
selection of the user's shell. Never asks Pulumi for secrets.
"""

import json
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import yaml
from pulumi.automation import PulumiCommand
from pulumi.automation.errors import CommandError, InvalidVersionError
from pulumi.automation.events import EngineEvent

from coder_stack.operate.engine.errors import LockedError, OperationError, operation_error
from coder_stack.operate.engine.events import EngineRun, read_events
from coder_stack.operate.engine.locks import lock_folder, raise_if_locked

# Enables --event-log, as the Automation API itself does.
_ENABLE_EVENT_LOG = {"PULUMI_DEBUG_COMMANDS": "true"}
_STACK_URN = "urn:pulumi:*::*::pulumi:pulumi:Stack::*"
_LOCK_RETRY_SECONDS = 3.0


class AbortedError(OperationError):
    """The engine aborted the operation; `run` holds everything up to the abort."""

    def __init__(self, message: str, run: EngineRun) -> None:
        super().__init__(message)
        self.run = run


@dataclass(frozen=True)
class Project:
    """A folder with a Pulumi.yaml, and the `pulumi` command on PATH."""

    folder: Path
    command: PulumiCommand

    @classmethod
    def at(cls, folder: Path) -> "Project":
        """Raise OperationError if the command is missing or has the wrong version."""
        try:
            return cls(folder, PulumiCommand())
        except (OSError, InvalidVersionError, CommandError) as error:
            problem = "is not on PATH" if isinstance(error, OSError) else "has the wrong version"
            raise OperationError(f"The command pulumi {problem}; see docs/toolchain.md.") from None

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
        return sorted(str(each["name"]) for each in json.loads(self.run("stack", "ls", "--json")))

    def run(self, *arguments: str) -> str:
        """Return the output of a command; raise OperationError if it fails."""
        try:
            return self.call(arguments)
        except CommandError as error:
            raise operation_error(str(error)) from None

    def call(self, arguments: Sequence[str], env: Mapping[str, str] | None = None) -> str:
        """Return the output of a command; raise Pulumi's own CommandError if it fails."""
        try:
            return self.command.run([*arguments], str(self.folder), env or {}).stdout
        except OSError as error:
            raise OperationError(f"Cannot work in {self.folder}: {error.strerror}.") from None


@dataclass(frozen=True)
class StackEngine:
    """One stack, and the Pulumi operations on it."""

    project: Project
    name: str

    def preview(self) -> EngineRun:
        """Return what a refresh finds and an update would do; write and lock nothing."""
        return self._operation("preview")

    def up(self, *, targets: Iterable[str]) -> EngineRun:
        """Refresh and update only these URNs.

        The engine refreshes and updates a resource before it refreshes those that depend on it. The
        stack itself is always a target: without any target the engine would update everything.
        """
        options = chain.from_iterable(("--target", urn) for urn in (_STACK_URN, *targets))
        return self._operation("up", "--yes", "--skip-preview", *options)

    def raise_if_locked(self) -> None:
        """Raise LockedError while an update runs; a preview would show its half-done work.

        A preview takes no lock. A backend without lock files is asked by the cheapest command that
        takes one: a refresh preview of the stack resource alone. Two of these may collide, so it
        is tried twice.
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
            self.project.run(*command)

    def outputs(self) -> dict[str, Any]:
        """Return the outputs of the last update; secrets are masked."""
        return json.loads(self.project.run("stack", "output", "--json", "--stack", self.name))

    def _operation(self, *arguments: str) -> EngineRun:
        with tempfile.TemporaryDirectory(prefix="coder-stack-") as folder:
            log = Path(folder) / "events"
            options = ("--stack", self.name, "--color", "never", "--event-log", str(log))
            command = (*arguments, "--refresh", "--run-program=true", *options)
            try:
                self.project.call(command, _ENABLE_EVENT_LOG)
            except CommandError as error:
                run = read_events(_read_log(log))
                cause = operation_error(str(error), run.errors)
                if isinstance(cause, LockedError):
                    raise cause from None
                raise AbortedError(str(cause), run) from None
            return read_events(_read_log(log))


def _read_log(log: Path) -> list[EngineEvent]:
    lines = log.read_text().splitlines() if log.exists() else []
    event: Any = EngineEvent
    return [event.from_json(json.loads(line)) for line in lines]
