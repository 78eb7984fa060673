"""What the engine tells of one `preview --refresh`, as typed steps.

Each resource is told of twice: what the refresh found (its state against the world), then what the
program would do about it (the plan). Leaves alone what any of it means: that is findings.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi.automation.events import EngineEvent, OpType, StepEventMetadata, StepEventStateMetadata

from coder_stack.descriptors import PROVISIONER_KEY
from coder_stack.operate.diagnosis.values import find, is_secret, is_unknown

__all__ = ["EngineRun", "Properties", "Step", "read_events"]

_STACK = "pulumi:pulumi:Stack"
_NOTHING_DONE = (OpType.SAME, OpType.READ, OpType.REFRESH)


@dataclass(frozen=True)
class Properties:
    """One side of a step."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]

    @classmethod
    def of(cls, state: StepEventStateMetadata | None) -> "Properties | None":
        """None if that side has no such resource."""
        return cls(state.inputs or {}, state.outputs or {}) if state else None


@dataclass(frozen=True)
class Step:
    """`paths` are the differing properties; true: they differ in inputs, not in outputs."""

    op: str
    urn: str
    type: str
    old: Properties | None
    new: Properties | None
    paths: Mapping[str, bool]
    parent: str = ""

    @classmethod
    def of(cls, told: StepEventMetadata) -> "Step":
        """As the engine told it."""
        detailed = {path: each.input_diff for path, each in (told.detailed_diff or {}).items()}
        # A provider that only says *that* something changed leaves no detail.
        paths = detailed or dict.fromkeys(told.diffs or (), True)
        side = told.new or told.old
        return cls(
            op=told.op.value,
            urn=told.urn,
            type=told.type,
            old=Properties.of(told.old),
            new=Properties.of(told.new),
            paths=paths,
            parent=side.parent if side else "",
        )

    @property
    def kind(self) -> str:
        """`kubernetes:apps/v1:Deployment` is a Deployment."""
        return self.type.rpartition(":")[2]

    @property
    def may_follow(self) -> bool:
        """Whether this change may be due to another one.

        Then some wanted value is not known yet, or is a secret, of which that cannot be told.
        """
        wanted: Mapping[str, Any] = self.new.inputs if self.new else {}
        values = {path: find(wanted, path) for path in self.paths or wanted}
        return any(
            is_unknown(value) or is_secret(self.kind, path, value) for path, value in values.items()
        )


@dataclass
class EngineRun:
    """One preview: per URN what was found and what is planned, and the stack's outputs."""

    refreshed: dict[str, Step] = field(default_factory=dict[str, Step])
    planned: dict[str, Step] = field(default_factory=dict[str, Step])
    outputs: dict[str, Any] = field(default_factory=dict[str, Any])
    """As they would be now; those that depend on a repair, as they were."""
    config: dict[str, str] = field(default_factory=dict[str, str])
    project: str = ""
    errors: list[str] = field(default_factory=list[str])
    deletes: int = 0
    replaces: int = 0
    """Without those of keys that are due by their age."""


def read_events(events: Iterable[EngineEvent]) -> EngineRun:
    """Gather what counts; default providers and the stack itself do not."""
    run = EngineRun()
    for event in events:
        if event.prelude_event:
            run.config = dict(event.prelude_event.config)
        if event.diagnostic_event and event.diagnostic_event.severity == "error":
            run.errors.append(event.diagnostic_event.message)
        if event.res_outputs_event:
            told = event.res_outputs_event.metadata
            if told.type == _STACK:
                _keep_outputs(run, told)
            elif told.op is OpType.REFRESH:
                run.refreshed[told.urn] = Step.of(told)
        if event.resource_pre_event:
            run.project = event.resource_pre_event.metadata.urn.split("::")[1]
            _keep_plan(run, event.resource_pre_event.metadata)
    return run


def _keep_plan(run: EngineRun, told: StepEventMetadata) -> None:
    if told.op in _NOTHING_DONE or told.type == _STACK or _is_default_provider(told.urn):
        return
    # A replacement is told in three steps: create-replacement, replace, delete-replaced.
    run.replaces += told.op is OpType.REPLACE and not _is_due_by_age(told)
    run.deletes += told.op is OpType.DELETE
    if told.urn not in run.planned or told.op is OpType.REPLACE:
        run.planned[told.urn] = Step.of(told)


def _is_due_by_age(told: StepEventMetadata) -> bool:
    """Whether a key is replaced for its age alone: the config's own wish, and no drift.

    A generated name changes along with the age.
    """
    because = set(told.keys or ())
    return (
        told.type == PROVISIONER_KEY.type
        and "issued_on" in because
        and because <= {"issued_on", "name"}
    )


def _keep_outputs(run: EngineRun, told: StepEventMetadata) -> None:
    before = (told.old and told.old.outputs) or {}
    after = (told.new and told.new.outputs) or {}
    known = {name: value for name, value in after.items() if not is_unknown(value)}
    run.outputs = {**before, **known}


def _is_default_provider(urn: str) -> bool:
    _, type_, name = urn.rsplit("::", 2)
    return type_.startswith("pulumi:providers:") and name.startswith("default")
