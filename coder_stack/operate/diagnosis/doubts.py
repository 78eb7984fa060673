"""Which conditions rest on a resource that was found different, so that they say so (R1). Pure.

Conditions are outputs of the last update: a preview knows no new value of what a repair will
change. A condition that was True is then Unknown, for the reason `Drifted`; any other stays.
"""

from collections.abc import Iterable, Sequence

from coder_stack.conditions import Condition, ConditionReason, aggregate
from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.diagnosis.next_steps import for_reason
from coder_stack.operate.report.model import ReportedCondition

_READY = "Ready"
_OPERATOR = "operator"
_SHARED_ACCOUNT = "account"
_WORKLOAD = ("Namespace", "Deployment", "ServiceAccount", "Service")
_LICENSE = ("License", "Entitlements", "FeatureGate", "OperatorAccess")
# A condition → kinds of resources in its own component that it rests on.
_OWN = {
    "ControlPlaneReady": _WORKLOAD,
    "DatabaseReady": ("Cluster",),
    "BootstrapSecretReady": ("SecretValue", "OperatorAccess"),
    "OperatorAccessReady": ("OperatorAccess",),
    "LicenseApplied": ("License", "SecretValue"),
    "ProvisionerKeyReady": ("ProvisionerKey",),
    "ProvisionerKeySecretReady": ("ProvisionerKey", "Secret"),
    "DeploymentReady": _WORKLOAD,
    "DaemonsConnected": ("ProvisionerKey", "Secret", "Deployment", "DaemonsConnected"),
    "ProxyRegistered": ("WorkspaceProxyRegistration",),
    "ProxyHealthy": (*_WORKLOAD, "WorkspaceProxyRegistration", "Secret", "ProxyHealth"),
    "OrganizationReady": ("Organization",),
}
# The component's type, and what conditions call it; `name` stands behind the last word.
_COMPONENTS = {
    "coder-stack:index:ControlPlane": "controlPlane",
    "coder-stack:index:Operator": _OPERATOR,
    "coder-stack:index:Provisioner": "provisioner",
    "coder-stack:index:ProvisionerAccount": _SHARED_ACCOUNT,
    "coder-stack:index:WorkspaceProxy": "proxy",
}


def doubted(
    conditions: Sequence[Condition], found: Iterable[Finding], stack: str
) -> tuple[ReportedCondition, ...]:
    """Return the conditions with what speaks against them; `Ready` sums up the others again."""
    broken = [each for each in found if each.origin == "refresh" or each.kind == "missing"]
    every = [_reported(each, broken, stack) for each in conditions if each.type != _READY]
    if len(every) < len(conditions):
        every.append(_with_next_step(aggregate(every), stack))
    return tuple(every)


def as_recorded(conditions: Iterable[Condition], stack: str) -> tuple[ReportedCondition, ...]:
    """Return the conditions of the last update, each with its next step."""
    return tuple(_with_next_step(each, stack) for each in conditions)


def _reported(condition: Condition, broken: Sequence[Finding], stack: str) -> ReportedCondition:
    names = tuple(each.name for each in broken if _rests_on(condition, each))
    if names and condition.status == "True":
        drifted: ConditionReason = "Drifted"
        listed = ", ".join(f"`{name}`" for name in names)
        message = f"{condition.message} Not any more as recorded: {listed}.".strip()
        changed = {"status": "Unknown", "reason": drifted, "message": message}
        condition = condition.model_copy(update=changed)
    return _with_next_step(condition, stack, names)


def _with_next_step(
    condition: Condition, stack: str, doubted_by: tuple[str, ...] = ()
) -> ReportedCondition:
    step = None if condition.status == "True" else for_reason(condition.reason, stack)
    return ReportedCondition(**condition.model_dump(), doubted_by=doubted_by, next_step=step)


def _rests_on(condition: Condition, finding: Finding) -> bool:
    component = _component(finding)
    if condition.type.endswith("Entitled"):
        return component == _OPERATOR and finding.resource in _LICENSE
    kinds = _OWN.get(condition.type, ())
    if component == _SHARED_ACCOUNT and condition.type == "DeploymentReady":
        # Conditions do not say whose pods use it: those of any provisioner may.
        return condition.component.startswith("provisioner/") and finding.resource in kinds
    return component == condition.component and finding.resource in kinds


def _component(finding: Finding) -> str:
    """Return what conditions call the component that the resource belongs to."""
    if finding.resource == "Organization":
        return f"organization/{finding.name.partition('-organization-')[2]}"
    return component_of(finding.parent)


def component_of(urn: str) -> str:
    """Return what conditions call a component; empty if it has none."""
    parent = urn.rpartition("::")
    type_ = parent[0].rpartition("::")[2].rpartition("$")[2]
    family = _COMPONENTS.get(type_, "")
    name = parent[2].partition(f"-{family}-")[2]
    return f"{family}/{name}" if name and family in ("provisioner", "proxy") else family
