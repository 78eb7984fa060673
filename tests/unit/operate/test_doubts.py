"""Conditions that rest on something found different say so (R1)."""

import pytest

from coder_stack.conditions import Condition, aggregate
from coder_stack.operate.diagnosis.doubts import doubted
from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.report.model import ReportedCondition
from tests.unit.operate.engine_events import CODER

STACK = "urn:pulumi:dev::coder-stack::coder-stack:index:CoderStack"
COMPONENTS = {
    "ControlPlane": "coder-control-plane",
    "Operator": "coder-operator",
    "Provisioner": "coder-provisioner-eu",
    "ProvisionerAccount": "coder-account-builders",
    "WorkspaceProxy": "coder-proxy-sydney",
}
WELL = [
    Condition(component=component, type=kind, status="True", reason="Ready", message="Well.")
    for component, kind in (
        ("controlPlane", "ControlPlaneReady"),
        ("operator", "OperatorAccessReady"),
        ("operator", "LicenseApplied"),
        ("organization/research", "OrganizationReady"),
        ("provisioner/eu", "ExternalProvisionersEntitled"),
        ("provisioner/eu", "ProvisionerKeyReady"),
        ("provisioner/eu", "ProvisionerKeySecretReady"),
        ("provisioner/eu", "DeploymentReady"),
        ("provisioner/eu", "DaemonsConnected"),
        ("provisioner/eu-west", "ProvisionerKeyReady"),
        ("proxy/sydney", "ProxyRegistered"),
        ("proxy/sydney", "ProxyHealthy"),
    )
]


def gone(type_: str, component: str = "", name: str = "it") -> Finding:
    parent = f"{STACK}$coder-stack:index:{component}::{COMPONENTS[component]}" if component else ""
    parent = parent or f"{STACK}::coder"
    return Finding(f"{STACK}${type_}::{name}", type_, "missing", "refresh", parent=parent)


def doubted_types(*found: Finding) -> set[str]:
    every = doubted([*WELL, aggregate(WELL)], found, "dev")
    return {f"{each.component} {each.type}" for each in every if each.status != "True"}


@pytest.mark.parametrize(
    ("finding", "conditions"),
    [
        (
            gone(f"{CODER}ProvisionerKey", "Provisioner"),
            {
                "provisioner/eu ProvisionerKeyReady",
                "provisioner/eu ProvisionerKeySecretReady",
                "provisioner/eu DaemonsConnected",
            },
        ),
        (
            gone("kubernetes:core/v1:Secret", "Provisioner"),
            {"provisioner/eu ProvisionerKeySecretReady", "provisioner/eu DaemonsConnected"},
        ),
        (
            gone("kubernetes:core/v1:ServiceAccount", "ProvisionerAccount"),
            {"provisioner/eu DeploymentReady"},
        ),
        (
            gone("kubernetes:apps/v1:Deployment", "ControlPlane"),
            {"controlPlane ControlPlaneReady"},
        ),
        (
            gone(f"{CODER}License", "Operator"),
            {"operator LicenseApplied", "provisioner/eu ExternalProvisionersEntitled"},
        ),
        (
            gone(f"{CODER}WorkspaceProxyRegistration", "WorkspaceProxy"),
            {"proxy/sydney ProxyRegistered", "proxy/sydney ProxyHealthy"},
        ),
        (
            gone(f"{CODER}Organization", name="coder-organization-research"),
            {"organization/research OrganizationReady"},
        ),
    ],
    ids=["key", "Secret", "shared account", "Deployment", "license", "proxy", "organization"],
)
def test_R1_what_rests_on_it_is_unknown_and_so_is_ready(
    finding: Finding, conditions: set[str]
) -> None:
    assert doubted_types(finding) == {*conditions, "stack Ready"}


def test_R1_the_condition_names_what_speaks_against_it_and_the_next_step() -> None:
    (each, *_) = doubted(WELL, [gone("kubernetes:apps/v1:Deployment", "ControlPlane")], "dev")
    assert isinstance(each, ReportedCondition)
    assert (each.status, each.reason, each.doubted_by) == ("Unknown", "Drifted", ("it",))
    assert each.message == "Well. Not any more as recorded: `it`."
    assert each.next_step is not None
    assert each.next_step.command == "coder-stack reconcile --stack dev"


def test_R1_a_condition_that_does_not_hold_keeps_its_own_reason() -> None:
    pending = WELL[0].model_copy(update={"status": "False", "reason": "Pending"})
    (each,) = doubted([pending], [gone("kubernetes:apps/v1:Deployment", "ControlPlane")], "dev")
    assert (each.status, each.reason, each.doubted_by) == ("False", "Pending", ("it",))


def test_R1_without_findings_everything_stays() -> None:
    assert doubted_types() == set()


def test_R1_every_condition_rests_on_something() -> None:
    """A new condition must say on what; else a page could call it True beside its broken object."""
    kinds = [
        *("Deployment", "Secret", "ProvisionerKey", "License", "OperatorAccess"),
        *("WorkspaceProxyRegistration", "Organization"),
    ]
    found = [
        gone(f"any:index:{kind}", component, "coder-organization-research" * (kind[0] == "O"))
        for kind in kinds
        for component in ("", *COMPONENTS)
    ]
    others = {f"{each.component} {each.type}" for each in WELL} - doubted_types(*found)
    assert others == {"provisioner/eu-west ProvisionerKeyReady"}, "it is another provisioner"
