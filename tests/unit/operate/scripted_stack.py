"""A stack for tests of reconcile: its previews return what the test says, and updates are noted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pulumi.automation.events import EngineEvent

from coder_stack.operate.engine.errors import LockedError, OperationError
from coder_stack.operate.engine.events import EngineRun, read_events
from coder_stack.operate.engine.pulumi import AbortedError
from coder_stack.operate.reconcile import Limits, reconcile_stack
from coder_stack.operate.report.model import Report
from tests.unit.operate.engine_events import step

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SERVICE = "kubernetes:core/v1:Service"
SECRET = "kubernetes:core/v1:Secret"
KEY = "pulumi-python:dynamic/coder:ProvisionerKey"
ACCESS = "pulumi-python:dynamic/coder:OperatorAccess"
ENTITLEMENTS = "pulumi-python:dynamic/coder:Entitlements"


def drifted(name: str = "it") -> EngineRun:
    old, new = {"spec": {"a": 1}}, {"spec": {"a": 2}}
    return read_events(
        [
            step("refresh", DEPLOYMENT, old, new, "spec.a", name=name),
            step("update", DEPLOYMENT, new, old, "spec.a", name=name),
        ]
    )


def replacing(*names: str) -> EngineRun:
    return read_events(
        [step("replace", KEY, {"tags": 1}, {"tags": 2}, "tags", name=n) for n in names]
    )


def deleting() -> EngineRun:
    return read_events([step("delete", DEPLOYMENT, {"spec": {}}, None)])


def unreachable(*events: EngineEvent) -> AbortedError:
    why = OperationError("Unavailable: coderd does not answer.")
    return AbortedError(why, read_events(events))


@dataclass
class Scripted:
    """A stack whose previews return these runs in turn; the last one again and again."""

    previews: Sequence[EngineRun | AbortedError]
    locked: int = 0
    """How often another update holds the lock."""
    failing_updates: int = 0
    updates: list[EngineRun] = field(default_factory=list[EngineRun])
    """The runs of the updates, in turn."""
    name: str = "dev"
    done: list[str] = field(default_factory=list[str])
    project: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(folder=Path()))
    left_out: tuple[str, ...] = ()

    def without(self, clusters: Iterable[str]) -> "Scripted":
        assert not list(clusters), "this stack has one cluster"
        return self

    def raise_if_locked(self) -> None:
        if self.locked:
            self.locked -= 1
            raise LockedError("Another update of the stack is running.")

    def preview(self) -> EngineRun:
        self.done.append("check")
        now, *later = self.previews
        self.previews = later or [now]
        if isinstance(now, AbortedError):
            raise now
        return now

    def up(self, targets: Sequence[str]) -> EngineRun:
        self.done.append(" ".join(["up", *map(_name, targets)]))
        if self.failing_updates:
            self.failing_updates -= 1
            why = "It depends on what was not specified in --target list."
            raise AbortedError(OperationError(why), EngineRun())
        return self.updates.pop(0) if self.updates else EngineRun()


def _name(urn: str) -> str:
    return urn.rsplit("::", maxsplit=1)[-1]


def run(stack: Any, **limits: Any) -> Report:
    return reconcile_stack(stack, Limits(pause_seconds=0.01, **limits))
