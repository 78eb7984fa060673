"""Remediations set missing values, keep secrets secret, and change no existing value (D5)."""

import copy
from typing import Any

import pytest
from pulumi_policy import (
    EnforcementLevel,
    PolicyCustomTimeouts,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)
from pulumi_policy.deserialize import (
    SPECIAL_SECRET_SIG,
    SPECIAL_SIG_KEY,
    deserialize_properties,
    serialize_properties,
)

from pack import policies
from tests.unit.policies import compliant
from tests.unit.policies.judge import UNKNOWN, Res, judge, rule

REMEDIATED = [
    policy.name for policy in policies() if policy.enforcement_level == EnforcementLevel.REMEDIATE
]
SECRET = {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": "hush"}


def remedied(name: str, props: dict[str, Any], type_: str = "apps/v1:Deployment") -> Any:
    """Apply the rule's remediation, with inputs encoded as between the engine and pulumi-policy."""
    policy = rule(name)
    assert isinstance(policy, ResourceValidationPolicy)
    options = PolicyResourceOptions(False, [], None, [], PolicyCustomTimeouts(0, 0, 0), [], None)
    properties = deserialize_properties(copy.deepcopy(props), True)
    args = ResourceValidationArgs(f"kubernetes:{type_}", properties, "", "it", options, None)
    result: Any = policy.remediate(args)
    return None if result is None else serialize_properties(result)


def bare(**box: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "any", "image": "any:1", **box}]}
    return {"metadata": {"name": "it"}, "spec": {"template": {"spec": spec}}}


def pod(props: dict[str, Any]) -> dict[str, Any]:
    return props["spec"]["template"]["spec"]


@pytest.mark.parametrize("name", REMEDIATED)
def test_what_was_missing_passes_afterwards(name: str) -> None:
    before = Res("kubernetes:apps/v1:Deployment", bare())
    assert judge(name, {"it": before}).messages
    after = Res(before.type, remedied(name, before.props))
    assert not judge(name, {"it": after}).messages


@pytest.mark.parametrize("name", REMEDIATED)
def test_what_is_well_is_left_alone(name: str) -> None:
    assert remedied(name, compliant.deployment().props) is None


@pytest.mark.parametrize("name", REMEDIATED)
def test_secrets_stay_secret_and_unknown_values_unknown(name: str) -> None:
    env = [{"name": "A", "value": SECRET}, {"name": "B", "value": UNKNOWN}]
    after = remedied(name, bare(env=env))
    assert pod(after)["containers"][0]["env"] == env


@pytest.mark.parametrize("name", REMEDIATED)
def test_nothing_is_filled_into_what_is_not_known_yet(name: str) -> None:
    assert remedied(name, {"metadata": UNKNOWN, "spec": UNKNOWN}) is None
    assert remedied(name, {"metadata": {"labels": UNKNOWN}, "spec": {"template": UNKNOWN}}) is None


@pytest.mark.parametrize(
    ("name", "context"),
    [
        ("run-as-non-root", {"runAsNonRoot": False}),
        ("no-privilege-escalation", {"allowPrivilegeEscalation": True}),
        ("no-privilege-escalation", {"privileged": True}),
        ("capabilities-dropped", {"capabilities": {"drop": ["KILL"]}}),
        ("seccomp-profile", {"seccompProfile": {"type": "Unconfined"}}),
    ],
)
def test_what_somebody_wrote_stays_and_is_a_violation(name: str, context: dict[str, Any]) -> None:
    before = bare(securityContext=context)
    after = remedied(name, before) or before
    assert pod(after)["containers"][0]["securityContext"] == context
    assert judge(name, {"it": Res("kubernetes:apps/v1:Deployment", after)}).messages


def test_a_filled_in_limit_is_never_below_the_request() -> None:
    after = remedied("resources-set", bare(resources={"requests": {"memory": "8Gi"}}))
    resources = pod(after)["containers"][0]["resources"]
    assert resources["limits"] == {"memory": "8Gi"}
    assert resources["requests"] == {"memory": "8Gi", "cpu": "100m"}


def test_a_whole_spec_that_is_secret_is_remediated_without_losing_its_marker() -> None:
    props = bare()
    props["spec"] = {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": props["spec"]}
    after = remedied("run-as-non-root", props)
    assert after["spec"][SPECIAL_SIG_KEY] == SPECIAL_SECRET_SIG
    (box,) = after["spec"]["value"]["template"]["spec"]["containers"]
    assert box["securityContext"] == {"runAsNonRoot": True}


@pytest.mark.parametrize("name", ["run-as-non-root", "seccomp-profile"])
def test_what_the_pod_says_for_all_is_not_repeated(name: str) -> None:
    props = bare()
    said = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    pod(props)["securityContext"] = said
    assert remedied(name, props) is None
    pod(props)["securityContext"] = UNKNOWN
    assert remedied(name, props) is None


def test_labels_are_added_to_those_there_are() -> None:
    props = {"metadata": {"labels": {"team": "platform", "app.kubernetes.io/part-of": "dev"}}}
    after = remedied("labels", props, "core/v1:Service")
    assert after["metadata"]["labels"] == {
        "team": "platform",
        "app.kubernetes.io/part-of": "dev",
        "app.kubernetes.io/managed-by": "pulumi",
    }
