"""What stands around pods that serve: a disruption budget, a network policy, a metrics monitor.

Each is made only if the config asks for it; proxies can have the first of them. Leaves alone who
enforces them: the network plugin and the Prometheus Operator are the cluster's.
"""

from typing import Any

from pulumi_kubernetes import apiextensions, networking, policy

from coder_stack.components.parts.control_plane_workload import ControlPlaneWorkload
from coder_stack.components.parts.workload import Workload
from coder_stack.settings import NetworkPolicy, PodDisruptionBudget, ServiceMonitor

__all__ = ["disruption_budget", "network_policy", "service_monitor"]

# Types of options are quoted: the SDK loads a Kubernetes group at its first mention.


def disruption_budget(
    workload: Workload, want: PodDisruptionBudget
) -> "policy.v1.PodDisruptionBudget":
    """At most one pod goes at a time, unless the config says otherwise."""
    most = want.max_unavailable
    if want.min_available is None and most is None:
        most = 1
    return policy.v1.PodDisruptionBudget(
        f"{workload.name}-disruption-budget",
        metadata=workload.metadata(),
        spec=policy.v1.PodDisruptionBudgetSpecArgs(
            selector=workload.pods(), min_available=want.min_available, max_unavailable=most
        ),
        opts=workload.child(),
    )


def network_policy(
    workload: ControlPlaneWorkload, want: NetworkPolicy
) -> "networking.v1.NetworkPolicy":
    """Connections to coderd's ports only, from everybody or from the given peers."""
    peers: list[Any] = list(want.allow_from)
    if peers and workload.settings.replicas > 1:
        # The pods pass connections on to each other, whoever else is let in.
        peers.append({"podSelector": {"matchLabels": workload.labels.selector}})
    return networking.v1.NetworkPolicy(
        f"{workload.name}-network-policy",
        metadata=workload.metadata(),
        spec=networking.v1.NetworkPolicySpecArgs(
            pod_selector=workload.pods(),
            policy_types=["Ingress"],
            ingress=[
                networking.v1.NetworkPolicyIngressRuleArgs(
                    from_=peers or None,
                    ports=[
                        networking.v1.NetworkPolicyPortArgs(port=port, protocol="TCP")
                        for port in workload.ports.values()
                    ],
                )
            ],
        ),
        opts=workload.child(),
    )


def service_monitor(
    workload: ControlPlaneWorkload, want: ServiceMonitor
) -> "apiextensions.CustomResource":
    """The Service's `metrics` port, scraped by a Prometheus that looks for these labels."""
    return apiextensions.CustomResource(
        f"{workload.name}-service-monitor",
        api_version="monitoring.coreos.com/v1",
        kind="ServiceMonitor",
        metadata=workload.metadata(labels=want.labels),
        spec={
            "selector": {"matchLabels": workload.labels.selector},
            "endpoints": [{"port": "metrics", "path": "/metrics", "interval": want.interval}],
        },
        opts=workload.child(),
    )
