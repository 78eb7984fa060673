"""The events of one `preview --refresh` or `up --refresh`, as typed steps per resource.

A resource has up to two steps: what the refresh found (its state against reality), and what the
program would do about it (the plan). diagnosis/findings.py interprets them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi.automation.events import EngineEvent, OpType, StepEventMetadata, StepEventStateMetadata

from coder_stack.descriptors import PROVISIONER_KEY
from coder_stack.operate.diagnosis.values import find, is_secret, is_unknown
from coder_stack.operate.engine.recorded_outputs import CODER_STACK, STACK

_NO_CHANGE = (OpType.SAME, OpType.READ, OpType.REFRESH)


@dataclass(frozen=True)
class Properties:
    """A resource's inputs and outputs before or after a step."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]

    @classmethod
    def from_state(cls, state: StepEventStateMetadata | None) -> "Properties | None":
        """Return None if the resource does not exist on that side of the step."""
        return cls(state.inputs or {}, state.outputs or {}) if state else None


@dataclass(frozen=True)
class Step:
    """One operation on one resource.

    `paths` are the properties that differ; True if they differ in inputs, False if in outputs.
    """

    op: str
    urn: str
    type: str
    old: Properties | None
    new: Properties | None
    paths: Mapping[str, bool]
    parent: str = ""
    custom: bool = True
    """False for a component, which is nothing but its children."""

    @classmethod
    def from_event(cls, event: StepEventMetadata) -> "Step":
        """Read the step from the event's metadata."""
        detailed = {path: each.input_diff for path, each in (event.detailed_diff or {}).items()}
        # Some providers only say which properties changed, without details.
        paths = detailed or dict.fromkeys(event.diffs or (), True)
        state = event.new or event.old
        return cls(
            op=event.op.value,
            urn=event.urn,
            type=event.type,
            old=Properties.from_state(event.old),
            new=Properties.from_state(event.new),
            paths=paths,
            parent=state.parent if state else "",
            custom=state is None or state.custom is not False,
        )

    @property
    def kind(self) -> str:
        """Return the last part of the type: `Deployment` of `kubernetes:apps/v1:Deployment`."""
        return self.type.rpartition(":")[2]

    @property
    def may_be_consequence(self) -> bool:
        """Whether another change may be the reason for this one.

        Then a wanted value is unknown, or is a secret, which may hide an unknown value.
        """
        wanted: Mapping[str, Any] = self.new.inputs if self.new else {}
        values = {path: find(wanted, path) for path in self.paths or wanted}
        return any(
            is_unknown(value) or is_secret(self.kind, path, value) for path, value in values.items()
        )


@dataclass(frozen=True)
class Registered:
    """A resource that the program declares and that needs no change."""

    type: str
    parent: str
    provider: str
    """URN and id of its provider."""


@dataclass
class EngineRun:
    """What one run found and planned, by URN, and the stack's outputs."""

    refreshed: dict[str, Step] = field(default_factory=dict[str, Step])
    planned: dict[str, Step] = field(default_factory=dict[str, Step])
    unchanged: dict[str, Registered] = field(default_factory=dict[str, Registered])
    """Without components and providers."""
    outputs_of: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Outputs of the stack and of its component CoderStack, by type.

    New values; old ones where the new value is unknown until a repair.
    """
    config: dict[str, str] = field(default_factory=dict[str, str])
    project: str = ""
    errors: list[str] = field(default_factory=list[str])
    deletes: int = 0
    replaces: int = 0
    """Does not count keys that are rotated for their age."""

    @property
    def creates(self) -> int:
        """Count planned creates, without those that repair what the refresh found missing."""
        missing = {urn for urn, step in self.refreshed.items() if step.new is None}
        return sum(
            step.custom and step.op == OpType.CREATE.value and urn not in missing
            for urn, step in self.planned.items()
        )

    @property
    def outputs(self) -> dict[str, Any]:
        """Return what the stack shows people; the component has more than the stack itself."""
        return {**self.outputs_of.get(STACK, {}), **self.outputs_of.get(CODER_STACK, {})}

    @property
    def empty(self) -> bool:
        """Whether the state had no resource to refresh: destroyed, or never deployed."""
        return not self.refreshed


def read_events(events: Iterable[EngineEvent]) -> EngineRun:
    """Collect the steps; leave out the stack itself and default providers."""
    run = EngineRun()
    for event in events:
        if event.prelude_event:
            run.config = dict(event.prelude_event.config)
        if event.diagnostic_event and event.diagnostic_event.severity == "error":
            run.errors.append(event.diagnostic_event.message)
        if event.res_outputs_event:
            metadata = event.res_outputs_event.metadata
            if metadata.type in (STACK, CODER_STACK):
                _record_outputs(run, metadata)
            if metadata.type != STACK and metadata.op is OpType.REFRESH:
                run.refreshed[metadata.urn] = Step.from_event(metadata)
        if event.resource_pre_event:
            run.project = event.resource_pre_event.metadata.urn.split("::")[1]
            _record_plan(run, event.resource_pre_event.metadata)
            _record_unchanged(run, event.resource_pre_event.metadata)
    return run


def _record_plan(run: EngineRun, event: StepEventMetadata) -> None:
    if event.op in _NO_CHANGE or event.type == STACK or _is_default_provider(event.urn):
        return
    # A replacement has three steps: create-replacement, replace, delete-replaced.
    run.replaces += event.op is OpType.REPLACE and not _is_rotation_by_age(event)
    run.deletes += event.op is OpType.DELETE
    if event.urn not in run.planned or event.op is OpType.REPLACE:
        run.planned[event.urn] = Step.from_event(event)


def _record_unchanged(run: EngineRun, event: StepEventMetadata) -> None:
    state = event.new or event.old
    if event.op is OpType.SAME and state and state.custom and not _is_provider(event.type):
        run.unchanged[event.urn] = Registered(event.type, state.parent or "", event.provider or "")


def _is_provider(type_: str) -> bool:
    return type_.startswith("pulumi:providers:")


def _is_rotation_by_age(event: StepEventMetadata) -> bool:
    """Return whether a key is replaced for its age alone, which is not drift.

    A generated name changes along with the age.
    """
    changed = set(event.keys or ())
    is_key = event.type == PROVISIONER_KEY.type
    return is_key and "issued_on" in changed and changed <= {"issued_on", "name"}


def _record_outputs(run: EngineRun, event: StepEventMetadata) -> None:
    before = (event.old and event.old.outputs) or {}
    after = (event.new and event.new.outputs) or {}
    known = {name: value for name, value in after.items() if not is_unknown(value)}
    run.outputs_of[event.type] = {**before, **known}


def _is_default_provider(urn: str) -> bool:
    _, type_, name = urn.rsplit("::", 2)
    return _is_provider(type_) and name.startswith("default")
