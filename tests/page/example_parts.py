"""What the example reports of tests/page/examples.py consist of."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any

from coder_stack.conditions import Condition, aggregate
from coder_stack.operate.diagnosis.doubts import as_recorded
from coder_stack.operate.report.model import (
    Difference,
    KeyAge,
    Kind,
    LastUpdate,
    LicenseDates,
    NextStep,
    ProxySummary,
    ReportedCondition,
    ResourceReport,
)

NOW = datetime(2027, 3, 1, 6, 30, tzinfo=UTC)
SECRET = "never-to-be-seen-7f3a"
KUBERNETES = "kubernetes:apps/v1:Deployment"
DYNAMIC = "pulumi-python:dynamic/coder_stack.dynamic"
UPDATED = LastUpdate(at=NOW - timedelta(hours=9, minutes=12), kind="update", succeeded=True)
MESSAGES = {
    "NotEntitled": "The license does not allow it.",
    "NotSeen": "It has not reported to coderd yet.",
    "TooFew": "0 of 2 wanted daemons are connected.",
}


def step(text: str, command: str, stack: str = "production") -> NextStep:
    return NextStep(text=text, command=f"{command} --stack {stack}")


REPAIR = step("Repair it, or declare the change in the config.", "coder-stack reconcile")
UP = step("Apply the config.", "pulumi up")


def resource(
    name: str, type_: str = KUBERNETES, kind: Kind = "changed", **fields: Any
) -> ResourceReport:
    given: dict[str, Any] = {"origin": "refresh", "cause": "It was edited.", "next_step": REPAIR}
    urn = f"urn:pulumi:production::coder-stack::coder-stack:index:ControlPlane${type_}::{name}"
    return ResourceReport(urn=urn, type=type_, name=name, kind=kind, **(given | fields))


def condition(component: str, type_: str, reason: str, message: str = "") -> Condition:
    """Return a condition that holds if its reason is one of those."""
    good = ("Ready", "Found", "LoggedIn", "Applied", "Entitled", "Issued", "Written", "Connected")
    status = "True" if reason in (*good, "Registered", "Healthy") else "False"
    return Condition(component=component, type=type_, status=status, reason=reason, message=message)


def conditions(
    doubts: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType({}), /, **reasons: str
) -> tuple[ReportedCondition, ...]:
    """Return the conditions of a stack.

    `doubts` has the resources that speak against a condition, `reasons` what else is not well.
    """
    every = [
        condition("controlPlane", "ControlPlaneReady", "Ready", "3 of 3 pods are ready."),
        condition("operator", "BootstrapSecretReady", "Found", "Secret coder/token holds a token."),
        condition("operator", "OperatorAccessReady", "LoggedIn", "Logged in as operator."),
        condition("operator", "LicenseApplied", "Applied", "The license of this stack is there."),
    ]
    for name in ("gpu-eu", "cpu-us", "batch"):
        where = f"provisioner/{name}"
        every += [
            condition(
                where, "ProvisionersEntitled", "Entitled", "The license allows provisioners."
            ),
            condition(where, "ProvisionerKeyReady", "Issued", f"Key {name}-3f9a is in coderd."),
            condition(where, "ProvisionerKeySecretReady", "Written", f"Secret {name}-key has it."),
            condition(where, "DaemonsConnected", "Connected", "At least 2 daemons are connected."),
        ]
    every += [
        condition("proxy/sydney", "ProxiesEntitled", "Entitled", "The license allows proxies."),
        condition("proxy/sydney", "ProxyRegistered", "Registered", "Registered as sydney."),
        condition("proxy/sydney", "ProxyHealthy", "Healthy", "coderd reaches it."),
    ]
    changed = [
        condition(each.component, each.type, reason, MESSAGES[reason])
        if (reason := reasons.get(each.type))
        else each
        for each in every
    ]
    drifted = {"status": "Unknown", "reason": "Drifted"}
    marked = [
        each.model_copy(update=drifted) if (each.component, each.type) in doubts else each
        for each in changed
    ]
    return tuple(
        each.model_copy(update={"doubted_by": doubts.get((each.component, each.type), ())})
        for each in as_recorded([*marked, aggregate(marked)], "production")
    )


LICENSE = LicenseDates(
    applied=True, license_expires=NOW + timedelta(days=290), exp=NOW + timedelta(days=304),
    warn_days=30,
)  # fmt: skip
KEYS = (
    KeyAge(
        provisioner="gpu-eu", organization="research", key_name="gpu-eu-3f9a",
        age_days=81, rotate_after_days=90, daemons=0,
    ),
    KeyAge(
        provisioner="cpu-us", organization="default", key_name="cpu-us-77b0",
        age_days=12, rotate_after_days=90, daemons=4,
    ),
    KeyAge(
        provisioner="batch-jobs-of-the-analytics-department", organization="analytics",
        key_name="batch-jobs-of-the-analytics-department-01aa", age_days=203, daemons=2,
    ),
    KeyAge(provisioner="new", organization="default", key_name=""),
)  # fmt: skip
PROXIES = (
    ProxySummary(name="sydney", health="ok", version="v2.26.1+3a9c0f2"),
    ProxySummary(name="sao-paulo", health="unreachable", version="v2.25.0+11d0c4e"),
    ProxySummary(name="tokyo", health="unknown"),
)
FACTS: dict[str, Any] = {"license": LICENSE, "keys": KEYS, "proxies": PROXIES}
ARGUMENTS = (
    '["server", "--http-address", "0.0.0.0:8080", "--cache-dir", "/var/cache/coder", '
    '"--max-requests", "512", "--log-level", "{}", "--provisioner-daemons", "0"]'
)
DEPLOYMENT = resource(
    "coder",
    cause="Deployment `coder` was changed in the cluster: "
    "`spec.replicas`, `spec.template.spec.containers[0].image` and 3 more.",
    properties=(
        Difference(path="spec.replicas", wanted="3", recorded="3", actual="1"),
        Difference(
            path="spec.template.spec.containers[0].image",
            wanted="registry.example.com/mirror/of/coder/coder:v2.26.1",
            recorded="registry.example.com/mirror/of/coder/coder:v2.25.0",
            actual="registry.example.com/mirror/of/coder/coder:v2.25.4",
        ),
        Difference(path='metadata.annotations["note"]', wanted="kept", recorded="kept", actual=""),
        Difference(path='metadata.labels["team"]', actual="platform"),
        Difference(
            path="spec.template.spec.containers[0].args",
            wanted=ARGUMENTS.format("info"),
            recorded=ARGUMENTS.format("info"),
            actual=ARGUMENTS.format("debug"),
        ),
    ),
)
KEY_GONE = resource(
    "gpu-eu-key", f"{DYNAMIC}.provisioner_key:ProvisionerKey", "missing",
    cause="Key `gpu-eu-3f9a` was deleted in coderd.",
)  # fmt: skip
KEY_SECRET = resource(
    "gpu-eu-key-secret", "kubernetes:core/v1:Secret", "replaced",
    cause="Secret `gpu-eu-provisioner-key` no longer holds the key that coderd knows.",
    properties=(Difference(path="data.key", wanted=SECRET, actual=SECRET, secret=True),),
)  # fmt: skip
CONFIG_CHANGE = resource(
    "production-organization-research", f"{DYNAMIC}.organization:Organization",
    origin="plan", next_step=UP,
    cause="The program asks for another Organization `research`: `display_name`.",
    properties=(
        Difference(path="display_name", wanted="Research", recorded="Lab", actual="Lab"),
        Difference(path="description", wanted="All that is new.", recorded="", actual=""),
    ),
)  # fmt: skip
NOT_CREATED = tuple(
    resource(
        f"team-{number:02}-provisioner", origin="plan", kind="missing",
        cause=f"Deployment `team-{number:02}-provisioner` is declared, but was not created yet.",
        next_step=step("Create it.", "pulumi up"),
    )
    for number in range(1, 37)
)  # fmt: skip
NOT_DECLARED = resource(
    "old-proxy", f"{DYNAMIC}.workspace_proxy:WorkspaceProxyRegistration", "unexpected",
    origin="plan", cause="Proxy `old` is still in coderd, but no longer declared.",
    next_step=step("Delete it, or declare it again in the config.", "pulumi up"),
)  # fmt: skip
IGNORED = resource(
    "coder-pdb", "kubernetes:policy/v1:PodDisruptionBudget",
    cause="PodDisruptionBudget `coder` was changed in the cluster: `spec.minAvailable`.",
    properties=(Difference(path="spec.minAvailable", wanted="2", recorded="2", actual="1"),),
    ignored_by="The platform team drains nodes in March.", ignored_until=date(2027, 3, 31),
    next_step=None,
)  # fmt: skip
DOUBTS = {
    ("controlPlane", "ControlPlaneReady"): ("coder",),
    ("provisioner/gpu-eu", "ProvisionerKeyReady"): ("gpu-eu-key",),
    ("provisioner/gpu-eu", "ProvisionerKeySecretReady"): ("gpu-eu-key", "gpu-eu-key-secret"),
    ("provisioner/gpu-eu", "DaemonsConnected"): ("gpu-eu-key", "gpu-eu-key-secret"),
}
