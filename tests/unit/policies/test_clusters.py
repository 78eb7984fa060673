"""Objects of equal names in two clusters, and a coderd that the stack does not deploy (D5, M1)."""

from dataclasses import replace
from typing import Any

import pytest
from pulumi_policy import Policy

from pack import policies
from tests.unit.policies import compliant
from tests.unit.policies.judge import Res, Resources, changed, judge

SYDNEY = "coder-cluster-sydney"


def at(resource: Res, cluster: str) -> Res:
    return replace(resource, cluster=cluster)


def mounting(replicas: int = 1) -> Res:
    """Pods that mount a whole Secret with the name of the one with the key."""
    volumes = [{"name": "v", "secret": {"secretName": compliant.KEY_SECRET}}]
    path = "it/spec.template.spec.volumes"
    return changed({"it": compliant.deployment(replicas=replicas)}, {path: volumes})["it"]


def with_key(**key: Any) -> dict[str, Res]:
    return {"key": compliant.key(**key), "secret": compliant.key_secret()}


@pytest.mark.parametrize(
    ("rule", "others", "workload", "alone"),
    [
        ("network-policy", {"it": compliant.network_policy()}, compliant.deployment(), True),
        ("disruption-budget", {"it": compliant.budget()}, compliant.deployment(replicas=2), True),
        ("own-secret-by-key", with_key(), mounting(), False),
        ("key-exact-name", with_key(exact_name=True), compliant.daemons(replicas=2), False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("clusters", [("", SYDNEY), (SYDNEY, ""), (SYDNEY, "coder-cluster-rome")])
def test_M1_D5_an_object_in_another_cluster_counts_neither_for_nor_against(
    rule: str, others: dict[str, Res], workload: Res, alone: bool, clusters: tuple[str, str]
) -> None:
    """`alone` says whether the workload violates the rule when nothing is beside it."""
    near, far = clusters

    def violates(beside: str) -> bool:
        every: Resources = {
            **{name: at(each, beside) for name, each in others.items()},
            "workload": at(workload, near),
        }
        return bool(judge(rule, every).messages)

    assert violates(far) is alone
    assert violates(near) is not alone, "the same objects in one cluster"


def test_M1_D5_each_cluster_needs_a_network_policy_of_its_own() -> None:
    every = {name: at(compliant.deployment(), name) for name in ("", SYDNEY)}
    resources = {f"one{name}": each for name, each in every.items()}
    assert len(judge("network-policy", resources).messages) == 2


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.name)
def test_M3_D5_no_rule_asks_for_a_coderd_that_the_stack_does_not_deploy(policy: Policy) -> None:
    beside = {
        "features": compliant.entitlements(external_provisioner_daemons="entitled"),
        "key": compliant.key(),
        "secret": compliant.key_secret(),
        "daemons": compliant.daemons(),
        "policy": compliant.network_policy(),
        "role": compliant.role(),
    }
    assert judge(policy.name, beside).messages == []
