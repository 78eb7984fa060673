"""A rule on disruption budgets: draining a node must not stop all replicas at once."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from pod_specs import has_pods, place_of, pod_labels, selects, serves
from properties import Resource, Violation
from rule import StackCase, stack_rule


def _budget(case: StackCase) -> Iterator[Violation]:
    budgets = [each for each in case.resources if each.kind == "PodDisruptionBudget"]
    for workload in case.resources:
        if workload.kind not in ("Deployment", "StatefulSet") or not has_pods(workload.type):
            continue
        with case.known:
            replicas = workload.props.at("spec", "replicas")
            exposed = (replicas.number or 1) > 1 and serves(workload, case.known)
            if exposed and not any(_covers(budget, workload) for budget in budgets):
                yield replicas.violation("add a PodDisruptionBudget that selects these pods.")


def _covers(budget: Resource, workload: Resource) -> bool:
    selector = budget.props.at("spec", "selector")
    if selector.value is None or place_of(budget) != place_of(workload):
        return False
    return selects(selector, pod_labels(workload).mapping())


RULES = (
    stack_rule(
        "disruption-budget",
        "Workloads that serve traffic with more than one replica have a PodDisruptionBudget.",
        check=_budget,
        steps="Set `podDisruptionBudget` of the control plane or proxy, or add your own.",
        severity=Severity.LOW,
        level=EnforcementLevel.ADVISORY,
    ),
)
