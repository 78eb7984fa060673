"""One stack of a project, as the `pulumi` command sees it: look, repair, read. A thin edge.

Goes through the Automation API's command and its events, with the local program (inline ones break
dynamic providers). Every command names its stack: `pulumi stack select` would change what the
user's own shell has selected. Secrets are never asked for, so there are none to leak.
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

from coder_stack.operate.engine.errors import LockedError, OperationError, failure
from coder_stack.operate.engine.events import EngineRun, read_events
from coder_stack.operate.engine.locks import lock_folder, refuse_if_held

__all__ = ["CutShortError", "Project", "StackEngine"]

# Makes the engine write its events into a file, as the Automation API itself does.
_EVENTS = {"PULUMI_DEBUG_COMMANDS": "true"}
_ROOT = "urn:pulumi:*::*::pulumi:pulumi:Stack::*"
_SECOND_TRY = 3.0


class CutShortError(OperationError):
    """The engine could not go on. What it had told until then holds all the same."""

    def __init__(self, sentence: str, run: EngineRun) -> None:
        super().__init__(sentence)
        self.run = run


@dataclass(frozen=True)
class Project:
    """A folder with a Pulumi.yaml, and the command that was found on PATH."""

    folder: Path
    command: PulumiCommand

    @classmethod
    def at(cls, folder: Path) -> "Project":
        """Or a sentence that says what is missing."""
        try:
            return cls(folder, PulumiCommand())
        except (OSError, InvalidVersionError, CommandError) as error:
            why = "is not on PATH" if isinstance(error, OSError) else "has the wrong version"
            raise OperationError(f"The command pulumi {why}; see docs/toolchain.md.") from None

    @cached_property
    def backend(self) -> str:
        """The URL under which states are kept."""
        return str(json.loads(self.run("whoami", "--json")).get("url", ""))

    @cached_property
    def name(self) -> str:
        """As Pulumi.yaml has it; empty if that is somewhere else."""
        try:
            return str(yaml.safe_load((self.folder / "Pulumi.yaml").read_text())["name"])
        except (OSError, yaml.YAMLError, KeyError, TypeError):
            return ""

    def stack(self, name: str) -> "StackEngine":
        """Not looked at yet."""
        return StackEngine(self, name)

    def stacks(self) -> list[str]:
        """All that the backend has of this project."""
        return sorted(str(each["name"]) for each in json.loads(self.run("stack", "ls", "--json")))

    def run(self, *arguments: str) -> str:
        """What a command prints."""
        try:
            return self.call(arguments)
        except CommandError as error:
            raise failure(str(error)) from None

    def call(self, arguments: Sequence[str], more: Mapping[str, str] | None = None) -> str:
        """The same with the command's own error."""
        try:
            return self.command.run([*arguments], str(self.folder), more or {}).stdout
        except OSError as error:
            raise OperationError(f"Cannot work in {self.folder}: {error.strerror}.") from None


@dataclass(frozen=True)
class StackEngine:
    """One stack."""

    project: Project
    name: str

    def preview(self) -> EngineRun:
        """What a refresh finds and what an update would do; writes nothing, locks nothing."""
        return self._operation("preview")

    def up(self, *, only: Iterable[str]) -> EngineRun:
        """Refresh, then bring these URNs to what the program says, and no other.

        A resource is refreshed and repaired before those that depend on it are looked at. The stack
        itself is always named: without any target the engine would take all.
        """
        chosen = chain.from_iterable(("--target", urn) for urn in (_ROOT, *only))
        return self._operation("up", "--yes", "--skip-preview", *chosen)

    def refuse_if_locked(self) -> None:
        """A preview does not ask for the lock, so it would show an update's half-done work.

        Where the lock is not a file to be read, the cheapest command that does ask: a look at
        nothing but the stack's own record. It holds the lock for that long, so two looks can meet;
        whoever is still there on the second try is at work.
        """
        if locks := lock_folder(self.project.backend, self.project.name, self.name):
            refuse_if_held(locks)
            return
        ask = ("refresh", "--preview-only", "--run-program=false", "--target", _ROOT)
        try:
            self.project.run(*ask, "--stack", self.name, "--color", "never")
        except LockedError:
            time.sleep(_SECOND_TRY)
            self.project.run(*ask, "--stack", self.name, "--color", "never")

    def outputs(self) -> dict[str, Any]:
        """As of the last update; secrets are masked."""
        return json.loads(self.project.run("stack", "output", "--json", "--stack", self.name))

    def _operation(self, *words: str) -> EngineRun:
        with tempfile.TemporaryDirectory(prefix="coder-stack-") as folder:
            log = Path(folder) / "events"
            command = [*words, "--refresh", "--run-program=true", "--stack", self.name]
            try:
                self.project.call([*command, "--color", "never", "--event-log", str(log)], _EVENTS)
            except CommandError as error:
                run = read_events(_read(log))
                why = failure(str(error), run.errors)
                if isinstance(why, LockedError):
                    raise why from None
                raise CutShortError(str(why), run) from None
            return read_events(_read(log))


def _read(log: Path) -> list[EngineEvent]:
    lines = log.read_text().splitlines() if log.exists() else []
    event: Any = EngineEvent
    return [event.from_json(json.loads(line)) for line in lines]
