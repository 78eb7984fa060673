"""coderd on Kubernetes: a namespace, an account with rights on workspaces, a Deployment, a Service.

Around them, by option, what components/exposure.py and components/surroundings.py make. Every
object is a child of the component and goes with it. Leaves alone: the database and its Secret, the
namespaces of workspaces (they exist already), and everything that lives inside coderd.
"""

from dataclasses import dataclass, field

import pulumi
from pulumi_kubernetes import apps, core, meta

from coder_stack.components.parts.coderd_container import coderd_container
from coder_stack.components.parts.control_plane_workload import METRICS_PORT, ControlPlaneWorkload
from coder_stack.components.parts.exposure import http_route, ingress
from coder_stack.components.parts.labels import Labels
from coder_stack.components.parts.options import (
    disruption_budget,
    network_policy,
    service_monitor,
)
from coder_stack.components.parts.status import Status, conditions_of
from coder_stack.components.parts.workload import ready_replicas
from coder_stack.components.parts.workspace_rbac import workspace_rbac
from coder_stack.conditions import control_plane_ready
from coder_stack.naming import workspace_role_name
from coder_stack.settings import ControlPlaneSettings

__all__ = ["ControlPlane", "ControlPlaneArgs"]


@dataclass(frozen=True, kw_only=True)
class ControlPlaneArgs:
    """What decides how coderd is deployed."""

    settings: ControlPlaneSettings = field(default_factory=ControlPlaneSettings)
    replicas: pulumi.Input[int] | None = None
    """How many pods run now, if not as many as the settings want: the license may allow fewer."""


class ControlPlane(pulumi.ComponentResource):
    """coderd and what it needs to be reached and to create workspaces."""

    url: pulumi.Output[str]
    """Where coderd is reached inside the cluster."""
    namespace: pulumi.Input[str]
    """Where it is; waits for the namespace if that is ours."""
    image: pulumi.Output[str]
    """What the pods run."""
    ready_replicas: pulumi.Output[int]
    """Pods that Kubernetes called ready when it was last asked."""
    phase: pulumi.Output[str]
    """`Ready` once every wanted pod is ready, `Pending` before."""
    status: pulumi.Output[Status]
    conditions: pulumi.Output[list[dict[str, str]]]
    """ControlPlaneReady."""

    def __init__(
        self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:ControlPlane", name, None, opts)
        want = args.settings
        self.namespace = namespace = self._namespace(name, want)
        workload = ControlPlaneWorkload(
            name=name,
            object_name=want.name,
            namespace=namespace,
            labels=Labels(name="coder", instance=want.name, component="coderd", more=want.labels),
            parent=self,
            settings=want,
        )
        account = workload.account(want.service_account_annotations)
        workspace_rbac(
            name,
            object_name=workspace_role_name(want.name),
            namespaces={
                want.namespace: namespace,
                **{place: place for place in want.workspace_namespaces if place != want.namespace},
            },
            account=account,
            deployments=want.workspace_deployments,
            labels=workload.labels.all,
            parent=self,
        )
        wanted = pulumi.Output.from_input(want.replicas if args.replicas is None else args.replicas)
        template = workload.template(want, coderd_container(workload), account)
        deployment = workload.deployment(want, template, replicas=wanted)
        service = _service(workload)
        _options(workload, service)
        self._outputs(workload, wanted, deployment, service)

    def _namespace(self, name: str, want: ControlPlaneSettings) -> pulumi.Input[str]:
        if not want.create_namespace:
            return want.namespace
        namespace = core.v1.Namespace(
            f"{name}-namespace",
            metadata=meta.v1.ObjectMetaArgs(
                name=want.namespace,
                labels={
                    **want.labels,
                    "app.kubernetes.io/part-of": "coder",
                    "app.kubernetes.io/managed-by": "pulumi",
                },
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        return namespace.metadata.name

    def _outputs(
        self,
        workload: ControlPlaneWorkload,
        wanted: pulumi.Output[int],
        deployment: apps.v1.Deployment,
        service: core.v1.Service,
    ) -> None:
        want = workload.settings
        host = pulumi.Output.concat(
            service.metadata.name, ".", workload.namespace, ".svc.cluster.local"
        )
        self.url = pulumi.Output.concat(f"{want.scheme}://", host, f":{want.service_port}")
        self.image = pulumi.Output.from_input(want.image.reference)
        self.ready_replicas = ready_replicas(deployment)
        ready = pulumi.Output.all(wanted, self.ready_replicas).apply(
            lambda pods: control_plane_ready("controlPlane", int(pods[0]), int(pods[1]))
        )
        self.phase = ready.apply(lambda found: "Ready" if found.status == "True" else "Pending")
        self.status = ready.apply(lambda found: Status(conditions=(found,)))
        self.conditions = conditions_of(self.status)
        self.register_outputs(
            {
                "url": self.url,
                "image": self.image,
                "readyReplicas": self.ready_replicas,
                "phase": self.phase,
                "conditions": self.conditions,
            }
        )


def _service(workload: ControlPlaneWorkload) -> core.v1.Service:
    want = workload.settings.service
    numbers = {"http": want.port, "https": want.tls_port, "metrics": METRICS_PORT}
    return core.v1.Service(
        f"{workload.name}-service",
        metadata=workload.metadata(annotations=want.annotations),
        spec=core.v1.ServiceSpecArgs(
            type=want.type,
            selector=workload.labels.selector,
            ports=[
                core.v1.ServicePortArgs(name=port, port=numbers[port], target_port=port)
                for port in workload.ports
            ],
        ),
        opts=workload.child(),
    )


def _options(workload: ControlPlaneWorkload, service: core.v1.Service) -> None:
    """What the config may ask for beside the Deployment and its Service."""
    want = workload.settings
    if want.ingress:
        ingress(workload, want.ingress, service)
    if want.http_route:
        http_route(workload, want.http_route, service)
    if want.pod_disruption_budget:
        disruption_budget(workload, want.pod_disruption_budget)
    if want.network_policy:
        network_policy(workload, want.network_policy)
    if want.service_monitor:
        service_monitor(workload, want.service_monitor)
