"""The objects through which users reach a workload, and those that guard it, from its settings.

The Service always exists. The others are in ingress.py and optional_objects.py. DNS names, Ingress
controllers, Gateways and certificates are not created here.
"""

from pulumi_kubernetes import core

from coder_stack.components.parts.ingress import http_route, ingress
from coder_stack.components.parts.listening import METRICS_PORT, listening_ports
from coder_stack.components.parts.optional_objects import (
    disruption_budget,
    network_policy,
    service_monitor,
)
from coder_stack.components.parts.workload import Workload
from coder_stack.settings import ExposedSettings


def expose(workload: Workload, want: ExposedSettings) -> core.v1.Service:
    """Create the Service and what the config asks for around it; return the Service."""
    service = _service(workload, want)
    if want.ingress:
        ingress(workload, want, want.ingress, service)
    if want.http_route:
        http_route(workload, want, want.http_route, service)
    if want.pod_disruption_budget:
        disruption_budget(workload, want.pod_disruption_budget)
    if want.network_policy:
        network_policy(workload, want, want.network_policy)
    if want.service_monitor:
        service_monitor(workload, want.service_monitor)
    return service


def _service(workload: Workload, settings: ExposedSettings) -> core.v1.Service:
    want = settings.service
    numbers = {"http": want.port, "https": want.tls_port, "metrics": METRICS_PORT}
    return core.v1.Service(
        f"{workload.name}-service",
        metadata=workload.metadata(annotations=want.annotations),
        spec=core.v1.ServiceSpecArgs(
            type=want.type,
            selector=workload.labels.selector,
            ports=[
                core.v1.ServicePortArgs(name=port, port=numbers[port], target_port=port)
                for port in listening_ports(settings)
            ],
        ),
        opts=workload.child_options(),
    )
