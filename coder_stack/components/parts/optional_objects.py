"""Objects that the config may ask for: PodDisruptionBudget, NetworkPolicy, ServiceMonitor.

They take effect only if the cluster has a network plugin and the Prometheus Operator.
"""

from typing import Any

from pulumi_kubernetes import apiextensions, networking, policy

from coder_stack.components.parts.listening import listening_ports
from coder_stack.components.parts.workload import Workload
from coder_stack.settings import (
    ExposedSettings,
    NetworkPolicy,
    PodDisruptionBudget,
    ServiceMonitor,
)

# Some types are quoted: the SDK loads a Kubernetes API group when it is first used.


def disruption_budget(
    workload: Workload, want: PodDisruptionBudget
) -> "policy.v1.PodDisruptionBudget":
    """Create a PodDisruptionBudget: one pod at a time, unless the config says otherwise."""
    most = want.max_unavailable
    if want.min_available is None and most is None:
        most = 1
    return policy.v1.PodDisruptionBudget(
        f"{workload.name}-disruption-budget",
        metadata=workload.metadata(),
        spec=policy.v1.PodDisruptionBudgetSpecArgs(
            selector=workload.pod_selector(), min_available=want.min_available, max_unavailable=most
        ),
        opts=workload.child_options(),
    )


def network_policy(
    workload: Workload, settings: ExposedSettings, want: NetworkPolicy
) -> "networking.v1.NetworkPolicy":
    """Create a NetworkPolicy: to the pods' ports only, from everybody or from the given peers."""
    peers: list[Any] = list(want.allow_from)
    if peers and settings.replicas > 1:
        # The pods relay connections to each other.
        peers.append({"podSelector": {"matchLabels": workload.labels.selector}})
    return networking.v1.NetworkPolicy(
        f"{workload.name}-network-policy",
        metadata=workload.metadata(),
        spec=networking.v1.NetworkPolicySpecArgs(
            pod_selector=workload.pod_selector(),
            policy_types=["Ingress"],
            ingress=[
                networking.v1.NetworkPolicyIngressRuleArgs(
                    from_=peers or None,
                    ports=[
                        networking.v1.NetworkPolicyPortArgs(port=port, protocol="TCP")
                        for port in listening_ports(settings).values()
                    ],
                )
            ],
        ),
        opts=workload.child_options(),
    )


def service_monitor(workload: Workload, want: ServiceMonitor) -> "apiextensions.CustomResource":
    """Create a ServiceMonitor for the `metrics` port, with the labels that Prometheus selects."""
    return apiextensions.CustomResource(
        f"{workload.name}-service-monitor",
        api_version="monitoring.coreos.com/v1",
        kind="ServiceMonitor",
        metadata=workload.metadata(labels=want.labels),
        spec={
            "selector": {"matchLabels": workload.labels.selector},
            "endpoints": [{"port": "metrics", "path": "/metrics", "interval": want.interval}],
        },
        opts=workload.child_options(),
    )
