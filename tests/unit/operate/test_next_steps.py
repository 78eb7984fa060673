"""Every finding has a next step with the command that a person can paste (R2)."""

from typing import Any

import pytest

from coder_stack.coderd.reasons import Reason
from coder_stack.descriptors.descriptor import Origin
from coder_stack.operate.diagnosis.findings import Finding
from coder_stack.operate.diagnosis.next_steps import for_finding, for_reason, for_refusal
from coder_stack.operate.report.model import Difference, Kind
from tests.unit.operate.engine_events import CODER, urn_of

REPAIR, UP = "coder-stack reconcile --stack dev", "pulumi up --stack dev"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
OWN_TOKEN = {"make_token": True}


def found(type_: str, kind: Kind, *paths: str, origin: Origin = "refresh", **facts: Any) -> Finding:
    properties = tuple(Difference(path=path) for path in paths)
    return Finding(urn_of(type_, "it"), type_, kind, origin, properties, facts, facts)


@pytest.mark.parametrize(
    ("finding", "command"),
    [
        (found(DEPLOYMENT, "changed", "spec"), REPAIR),
        (found(DEPLOYMENT, "missing"), REPAIR),
        (found(DEPLOYMENT, "missing", origin="plan"), UP),
        (found(DEPLOYMENT, "unexpected", origin="plan"), UP),
        (found(DEPLOYMENT, "changed", "spec", origin="plan"), UP),
        (found(f"{CODER}ProvisionerKey", "replaced", "issued_on", origin="plan"), REPAIR),
        (found(f"{CODER}SecretValue", "changed", "value"), UP),
        (found(f"{CODER}OperatorAccess", "changed", "accepted", **OWN_TOKEN), REPAIR),
        (
            found(f"{CODER}OperatorAccess", "changed", "accepted"),
            "pulumi config set --secret token --stack dev",
        ),
        (found(f"{CODER}Entitlements", "unknown", "stale", reason="Forbidden"), UP),
    ],
)
def test_R2_a_finding_has_the_command_that_repairs_it(finding: Finding, command: str) -> None:
    step = for_finding(finding, "dev")
    assert step.command == command
    assert step.text.endswith(".")


@pytest.mark.parametrize("reason", [*map(str, Reason), "Drifted", "NeverHeardOf"])
def test_R2_every_reason_has_one(reason: str) -> None:
    step = for_reason(reason, "dev")
    assert step.command
    assert "{" not in step.command
    assert step.text.endswith(".")


def test_R2_a_refusal_names_the_limits_that_would_allow_it() -> None:
    step = for_refusal({"delete": 3, "create": 12}, "dev")
    assert step.command == f"{REPAIR} --max-deletes 3 --max-creates 12"
