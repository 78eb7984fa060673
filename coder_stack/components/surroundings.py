"""What stands around pods that serve: a disruption budget, a network policy, a metrics monitor.

Each is made only if the config asks for it; proxies can have the first of them. Leaves alone who
enforces them: the network plugin and the Prometheus Operator are the cluster's.
"""

from typing import Any

from pulumi_kubernetes import apiextensions, networking, policy

from coder_stack.components.place import Place
from coder_stack.components.site import Site
from coder_stack.settings import NetworkPolicy, PodDisruptionBudget, ServiceMonitor

__all__ = ["disruption_budget", "network_policy", "service_monitor"]

# Types of options are quoted: the SDK loads a Kubernetes group at its first mention.


def disruption_budget(place: Place, want: PodDisruptionBudget) -> "policy.v1.PodDisruptionBudget":
    """At most one pod goes at a time, unless the config says otherwise."""
    most = want.max_unavailable
    if want.min_available is None and most is None:
        most = 1
    return policy.v1.PodDisruptionBudget(
        f"{place.name}-disruption-budget",
        metadata=place.metadata(),
        spec=policy.v1.PodDisruptionBudgetSpecArgs(
            selector=place.pods(), min_available=want.min_available, max_unavailable=most
        ),
        opts=place.child(),
    )


def network_policy(site: Site, want: NetworkPolicy) -> "networking.v1.NetworkPolicy":
    """Connections to coderd's ports only, from everybody or from the given peers."""
    peers: list[Any] = list(want.allow_from)
    if peers and site.settings.replicas > 1:
        # The pods pass connections on to each other, whoever else is let in.
        peers.append({"podSelector": {"matchLabels": site.labels.selector}})
    return networking.v1.NetworkPolicy(
        f"{site.name}-network-policy",
        metadata=site.metadata(),
        spec=networking.v1.NetworkPolicySpecArgs(
            pod_selector=site.pods(),
            policy_types=["Ingress"],
            ingress=[
                networking.v1.NetworkPolicyIngressRuleArgs(
                    from_=peers or None,
                    ports=[
                        networking.v1.NetworkPolicyPortArgs(port=port, protocol="TCP")
                        for port in site.ports.values()
                    ],
                )
            ],
        ),
        opts=site.child(),
    )


def service_monitor(site: Site, want: ServiceMonitor) -> "apiextensions.CustomResource":
    """The Service's `metrics` port, scraped by a Prometheus that looks for these labels."""
    return apiextensions.CustomResource(
        f"{site.name}-service-monitor",
        api_version="monitoring.coreos.com/v1",
        kind="ServiceMonitor",
        metadata=site.metadata(labels=want.labels),
        spec={
            "selector": {"matchLabels": site.labels.selector},
            "endpoints": [{"port": "metrics", "path": "/metrics", "interval": want.interval}],
        },
        opts=site.child(),
    )
