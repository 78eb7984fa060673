"""Turn the engine's steps into findings: which resource differs, how, and in which properties.

Pure. The origin is `refresh` if a refresh found it (somebody changed something), and `plan` if only
the plan has it (the config asks for more than was applied). A planned change with only unknown
values is a consequence of another finding, and is left out. causes.py explains a finding, and
ignore_rules.py decides whether it counts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from coder_stack.descriptors import DESCRIPTORS, ENTITLEMENTS, LICENSE
from coder_stack.descriptors.descriptor import Drift, Origin
from coder_stack.operate.diagnosis.values import ABSENT, find, is_secret, is_unknown, shown
from coder_stack.operate.engine.events import EngineRun, Properties, Step
from coder_stack.operate.report.model import Difference, Kind

_NO_PROPERTIES = Properties({}, {})


@dataclass(frozen=True)
class Finding:
    """One resource that differs, with its properties as recorded (or wanted) and as they are."""

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
        """Return the last part of the type, such as `Deployment`."""
        return self.type.rpartition(":")[2]

    @property
    def name(self) -> str:
        """Return the Pulumi name."""
        return self.urn.rpartition("::")[2]

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of the differing properties."""
        return tuple(each.path for each in self.properties)

    @property
    def drift(self) -> Drift:
        """Return what a descriptor needs to explain it."""
        return Drift(
            name=self.name,
            kind=self.kind,
            origin=self.origin,
            paths=self.paths,
            recorded=self.recorded,
            actual=self.actual,
        )

    def with_properties(self, properties: tuple[Difference, ...]) -> "Finding":
        """Return a copy with these differing properties."""
        return replace(self, properties=properties)


def findings(run: EngineRun) -> list[Finding]:
    """Return the findings, sorted by URN."""
    found = list(_all_findings(run))
    explained = {each.parent for each in found if not _only_secrets_planned(each)}
    kept = [e for e in found if not (_only_secrets_planned(e) and e.parent in explained)]
    return sorted(kept, key=lambda finding: finding.urn)


def _only_secrets_planned(finding: Finding) -> bool:
    """Return whether the program only asks for other secrets, which may be unknown values.

    Beside another finding in the same component, such a change is its consequence, as that of a
    Secret whose key was deleted. A license never is a consequence.
    """
    only_secrets = bool(finding.properties) and all(each.secret for each in finding.properties)
    return finding.origin == "plan" and only_secrets and finding.type != LICENSE.type


def _all_findings(run: EngineRun) -> Iterator[Finding]:
    for urn in {**run.refreshed, **run.planned}:
        refresh, plan = run.refreshed.get(urn), run.planned.get(urn)
        found = (refresh and _from_refresh(refresh, plan)) or (plan and _from_plan(plan))
        if found:
            yield found


def _from_refresh(refresh: Step, plan: Step | None) -> Finding | None:
    recorded, actual = refresh.old or _NO_PROPERTIES, refresh.new
    if actual is None:
        return _finding(refresh, "missing", "refresh", (), recorded, _NO_PROPERTIES)
    properties = _differences(refresh.kind, refresh.paths, recorded, actual)
    if not properties:
        # The engine names no paths for a difference in outputs alone.
        old, new = recorded.outputs, actual.outputs
        descriptor = DESCRIPTORS.get(refresh.type)
        watched = descriptor.drift_outputs if descriptor else ()
        names = [name for name in watched if old.get(name) != new.get(name)]
        properties = _differences(
            refresh.kind, dict.fromkeys(names, True), Properties(old, {}), Properties(new, {})
        )
    if not properties:
        return None
    kind: Kind = "replaced" if plan and "replace" in plan.op else "changed"
    if refresh.type == ENTITLEMENTS.type and find(actual.outputs, "stale") is True:
        kind = "unknown"
    return _finding(refresh, kind, "refresh", properties, recorded, actual)


def _from_plan(plan: Step) -> Finding | None:
    actual, wanted = plan.old or _NO_PROPERTIES, plan.new or _NO_PROPERTIES
    if plan.op in ("create", "import"):
        return _finding(plan, "missing", "plan", (), wanted, actual)
    if plan.op in ("delete", "discard", "delete-replaced", "discard-replaced"):
        return _finding(plan, "unexpected", "plan", (), wanted, actual)
    # A planned resource has no outputs yet, so compare with its inputs.
    planned = Properties(wanted.inputs, wanted.inputs)
    properties = _differences(plan.kind, plan.paths, planned, actual)
    if not properties and any(is_unknown(find(wanted.inputs, path)) for path in plan.paths):
        return None
    kind: Kind = "replaced" if "replace" in plan.op else "changed"
    return _finding(plan, kind, "plan", properties, wanted, actual)


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
        _difference(kind, path, *_both_values(path, in_inputs, recorded, actual))
        for path, in_inputs in sorted(paths.items())
        if not path.startswith("__")
    )
    return tuple(each for each in found if each)


def _both_values(
    path: str, in_inputs: bool, recorded: Properties, actual: Properties
) -> tuple[object, object]:
    if in_inputs:
        return find(recorded.inputs, path), find(actual.inputs, path)
    # Some providers compare the recorded inputs with the actual outputs.
    before, now = find(recorded.outputs, path), find(actual.outputs, path)
    if before == now:
        before, now = find(recorded.inputs, path), find(actual.outputs, path)
    return before, now


def _difference(kind: str, path: str, recorded: object, actual: object) -> Difference | None:
    if is_unknown(recorded):
        return None
    if is_secret(kind, path, recorded, actual):
        # Masked secrets are equal; the engine knows that they differ.
        return Difference(path=path, secret=True)
    if recorded == actual and recorded is not ABSENT:
        return None
    return Difference(path=path, recorded=shown(recorded), actual=shown(actual))
