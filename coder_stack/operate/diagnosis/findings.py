"""From the engine's steps to findings: what is not as it should be, of which kind, by which fields.

Pure. A finding is of the *world* if a refresh saw it (somebody changed something), and of the
*program* if only the plan has it (the config asks for more than was applied). A planned change all
of whose values are unknown follows from another finding, and is none itself. Why it happened is
said in causes.py; whether it counts, in rules.py.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from coder_stack.descriptors import DESCRIPTORS, ENTITLEMENTS, LICENSE
from coder_stack.descriptors.descriptor import Drift
from coder_stack.operate.diagnosis.values import ABSENT, find, is_secret, is_unknown, shown
from coder_stack.operate.engine.events import EngineRun, Properties, Step
from coder_stack.operate.report.model import Difference, Kind

__all__ = ["Finding", "findings"]

Origin = Literal["world", "program"]
_NOWHERE = Properties({}, {})


@dataclass(frozen=True)
class Finding:
    """One resource, with all that is known of it: as recorded (or wanted), and as it is."""

    urn: str
    type: str
    kind: Kind
    origin: Origin
    properties: tuple[Difference, ...] = ()
    recorded: Mapping[str, Any] = field(default_factory=dict[str, Any])
    actual: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parent: str = ""

    @property
    def resource(self) -> str:
        """The last word of its type, such as `Deployment`."""
        return self.type.rpartition(":")[2]

    @property
    def name(self) -> str:
        """As Pulumi calls it."""
        return self.urn.rpartition("::")[2]

    @property
    def paths(self) -> tuple[str, ...]:
        """Of the differing properties."""
        return tuple(each.path for each in self.properties)

    @property
    def drift(self) -> Drift:
        """Return what a descriptor needs to say why."""
        return Drift(
            name=self.name,
            kind=self.kind,
            origin=self.origin,
            paths=self.paths,
            recorded=self.recorded,
            actual=self.actual,
        )

    def with_only(self, properties: tuple[Difference, ...]) -> "Finding":
        """The same with fewer properties."""
        return replace(self, properties=properties)


def findings(run: EngineRun) -> list[Finding]:
    """In the order of their URNs."""
    found = list(_each(run))
    own = {each.parent for each in found if not _only_secrets(each)}
    kept = [each for each in found if not (_only_secrets(each) and each.parent in own)]
    return sorted(kept, key=lambda finding: finding.urn)


def _only_secrets(finding: Finding) -> bool:
    """Planned, and of values that the engine does not show.

    Whether they are unknown is not shown either. Beside another finding in the same component they
    follow from that one, as a Secret does from its key. A license is nobody's consequence.
    """
    shown_none = bool(finding.properties) and all(each.secret for each in finding.properties)
    return finding.origin == "program" and shown_none and finding.type != LICENSE.type


def _each(run: EngineRun) -> Iterator[Finding]:
    for urn in {**run.refreshed, **run.planned}:
        seen, plan = run.refreshed.get(urn), run.planned.get(urn)
        found = (seen and _in_world(seen, plan)) or (plan and _in_program(plan))
        if found:
            yield found


def _in_world(seen: Step, plan: Step | None) -> Finding | None:
    recorded, actual = seen.old or _NOWHERE, seen.new
    if actual is None:
        return _finding(seen, "missing", "world", (), recorded, _NOWHERE)
    properties = _differences(seen.kind, seen.paths, recorded, actual)
    if not properties:
        # These differ in outputs alone, of which the engine says nothing.
        was, now = recorded.outputs, actual.outputs
        told = [n for n in _drift_outputs(seen.type) if was.get(n) != now.get(n)]
        properties = _differences(
            seen.kind, dict.fromkeys(told, True), Properties(was, {}), Properties(now, {})
        )
    if not properties:
        return None
    kind: Kind = "replaced" if plan and "replace" in plan.op else "changed"
    if seen.type == ENTITLEMENTS.type and find(actual.outputs, "stale") is True:
        kind = "unknown"
    return _finding(seen, kind, "world", properties, recorded, actual)


def _drift_outputs(type_: str) -> tuple[str, ...]:
    descriptor = DESCRIPTORS.get(type_)
    return descriptor.drift_outputs if descriptor else ()


def _in_program(plan: Step) -> Finding | None:
    actual, wanted = plan.old or _NOWHERE, plan.new or _NOWHERE
    if plan.op in ("create", "import"):
        return _finding(plan, "missing", "program", (), wanted, actual)
    if plan.op in ("delete", "discard", "delete-replaced", "discard-replaced"):
        return _finding(plan, "unexpected", "program", (), wanted, actual)
    # Before an update there are no outputs yet: what is wanted stands in the inputs.
    planned = Properties(wanted.inputs, wanted.inputs)
    properties = _differences(plan.kind, plan.paths, planned, actual)
    if not properties and any(is_unknown(find(wanted.inputs, path)) for path in plan.paths):
        return None
    kind: Kind = "replaced" if "replace" in plan.op else "changed"
    return _finding(plan, kind, "program", properties, wanted, actual)


def _finding(
    step: Step,
    kind: Kind,
    origin: Origin,
    properties: tuple[Difference, ...],
    recorded: Properties,
    actual: Properties,
) -> Finding:
    return Finding(
        urn=step.urn,
        type=step.type,
        parent=step.parent,
        kind=kind,
        origin=origin,
        properties=properties,
        recorded={**recorded.inputs, **recorded.outputs},
        actual={**actual.inputs, **actual.outputs},
    )


def _differences(
    kind: str, paths: Mapping[str, bool], recorded: Properties, actual: Properties
) -> tuple[Difference, ...]:
    found = (
        _difference(kind, path, *_values(path, in_inputs, recorded, actual))
        for path, in_inputs in sorted(paths.items())
        if not path.startswith("__")
    )
    return tuple(each for each in found if each)


def _values(
    path: str, in_inputs: bool, recorded: Properties, actual: Properties
) -> tuple[object, object]:
    if in_inputs:
        return find(recorded.inputs, path), find(actual.inputs, path)
    # Some providers compare what was asked for with what there is.
    before, now = find(recorded.outputs, path), find(actual.outputs, path)
    if before == now:
        before, now = find(recorded.inputs, path), find(actual.outputs, path)
    return before, now


def _difference(kind: str, path: str, recorded: object, actual: object) -> Difference | None:
    if is_unknown(recorded):
        return None
    if is_secret(kind, path, recorded, actual):
        # Two secrets look alike: that they differ is the engine's word.
        return Difference(path=path, secret=True)
    if recorded == actual and recorded is not ABSENT:
        return None
    return Difference(path=path, recorded=shown(recorded), actual=shown(actual))
