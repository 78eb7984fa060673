"""Turn the engine's steps into findings: which resource differs, how, and in which properties.

Pure. The origin is `refresh` if a refresh found it (somebody changed something), and `plan` if only
the plan has it (the config asks for more than was applied). What only follows from another finding
is left out: a planned change to unknown values, and properties that the program derives from other
resources. causes.py explains a finding, and ignore_rules.py decides whether it counts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from coder_stack.descriptors import DESCRIPTORS, ENTITLEMENTS, LICENSE, OPERATOR_ACCESS
from coder_stack.descriptors.descriptor import Drift, Origin
from coder_stack.operate.diagnosis.values import (
    ABSENT,
    find,
    is_secret,
    is_unknown,
    keys_of,
    shown,
)
from coder_stack.operate.engine.events import EngineRun, Properties, Step
from coder_stack.operate.report.model import Difference, Kind

_NO_PROPERTIES = Properties({}, {})


@dataclass(frozen=True)
class Finding:
    """One resource that differs.

    `declared` are its properties before somebody changed it, or as the program asks for; `actual`
    those that it has.
    """

    urn: str
    type: str
    kind: Kind
    origin: Origin
    properties: tuple[Difference, ...] = ()
    declared: Mapping[str, Any] = field(default_factory=dict[str, Any])
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
            declared=self.declared,
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
    # What is derived stands for itself only if nothing else explains it.
    kept = [each for each in kept if not _is_derived(each)] or kept
    return sorted(map(_without_derived, kept), key=lambda finding: finding.urn)


def _is_derived(finding: Finding) -> bool:
    """Return whether only properties differ that follow from other resources."""
    return bool(finding.properties) and all(_derived(finding, each) for each in finding.paths)


def _without_derived(finding: Finding) -> Finding:
    own = tuple(each for each in finding.properties if not _derived(finding, each.path))
    return finding.with_properties(own) if own else finding


def _derived(finding: Finding, path: str) -> bool:
    if (descriptor := DESCRIPTORS.get(finding.type)) is None:
        return False
    # How coderd is reached is said once, by the operator's access.
    shared = () if descriptor is OPERATOR_ACCESS else ("connection",)
    return keys_of(path)[0] in (*descriptor.derived, *shared)


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
    wanted = ((plan and plan.new) or _NO_PROPERTIES).inputs
    properties = _drifted(refresh.kind, refresh.paths, wanted, recorded, actual)
    if not properties:
        # The engine names no paths for a difference in outputs alone.
        old, new = recorded.outputs, actual.outputs
        descriptor = DESCRIPTORS.get(refresh.type)
        watched = descriptor.drift_outputs if descriptor else ()
        names = [name for name in watched if old.get(name) != new.get(name)]
        sides = Properties(old, {}), Properties(new, {})
        properties = _drifted(refresh.kind, dict.fromkeys(names, True), {}, *sides)
    if not properties:
        return None
    kind: Kind = "replaced" if plan and "replace" in plan.op else "changed"
    if refresh.type == ENTITLEMENTS.type and find(actual.outputs, "stale") is True:
        kind = "unknown"
    return _finding(refresh, kind, "refresh", properties, recorded, actual)


def _from_plan(plan: Step) -> Finding | None:
    recorded, wanted = plan.old or _NO_PROPERTIES, plan.new or _NO_PROPERTIES
    if plan.op in ("create", "import"):
        return _finding(plan, "missing", "plan", (), wanted, recorded)
    if plan.op in ("delete", "discard", "delete-replaced", "discard-replaced"):
        return _finding(plan, "unexpected", "plan", (), wanted, recorded)
    properties = _planned(plan.kind, plan.paths, wanted.inputs, recorded)
    if not properties and any(is_unknown(find(wanted.inputs, path)) for path in plan.paths):
        return None
    kind: Kind = "replaced" if "replace" in plan.op else "changed"
    return _finding(plan, kind, "plan", properties, wanted, recorded)


def _finding(
    step: Step,
    kind: Kind,
    origin: Origin,
    properties: tuple[Difference, ...],
    declared: Properties,
    actual: Properties,
) -> Finding:
    return Finding(
        urn=step.urn,
        type=step.type,
        parent=step.parent,
        kind=kind,
        origin=origin,
        properties=properties,
        declared={**declared.inputs, **declared.outputs},
        actual={**actual.inputs, **actual.outputs},
    )


def _drifted(
    kind: str,
    paths: Mapping[str, bool],
    wanted: Mapping[str, Any],
    recorded: Properties,
    actual: Properties,
) -> tuple[Difference, ...]:
    """Compare state and reality; without a plan for a property, the program wants the state's."""
    found: list[Difference] = []
    for path, in_inputs in _shown_paths(paths):
        before, now = _both_values(path, in_inputs, recorded, actual)
        if is_unknown(before) or _same(kind, path, before, now):
            continue
        asked = find(wanted, path)
        found.append(_difference(kind, path, before if asked is ABSENT else asked, before, now))
    return tuple(found)


def _planned(
    kind: str, paths: Mapping[str, bool], wanted: Mapping[str, Any], recorded: Properties
) -> tuple[Difference, ...]:
    """Compare program and state; the refresh found that reality is as recorded."""
    found: list[Difference] = []
    for path, in_inputs in _shown_paths(paths):
        # A planned resource has no outputs yet, so compare with its inputs.
        asked = find(wanted, path)
        now = find(recorded.inputs if in_inputs else recorded.outputs, path)
        if is_unknown(asked) or _same(kind, path, asked, now):
            continue
        found.append(_difference(kind, path, asked, now, now))
    return tuple(found)


def _same(kind: str, path: str, one: object, other: object) -> bool:
    """Return whether two values that can be compared are equal, whatever the engine says."""
    comparable = one is not ABSENT and not is_secret(kind, path, one, other)
    return comparable and one == other


def _shown_paths(paths: Mapping[str, bool]) -> list[tuple[str, bool]]:
    return [each for each in sorted(paths.items()) if not each[0].startswith("__")]


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


def _difference(
    kind: str, path: str, wanted: object, recorded: object, actual: object
) -> Difference:
    if is_secret(kind, path, wanted, recorded, actual):
        # Masked secrets are equal; the engine knows that they differ.
        return Difference(path=path, secret=True)
    return Difference(
        path=path, wanted=shown(wanted), recorded=shown(recorded), actual=shown(actual)
    )
