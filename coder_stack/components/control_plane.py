"""coderd on Kubernetes: namespace, ServiceAccount, permissions on workspaces, Deployment, Service.

How it is exposed is in parts/exposure.py, and its database in parts/database.py. Other databases
and the namespaces of workspaces must exist. What is inside coderd is not managed here.
"""

from dataclasses import dataclass, field

import pulumi
from pulumi_kubernetes import apps, core, meta

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.components.parts.coderd_container import coderd_container
from coder_stack.components.parts.database import DatabaseCluster, database_cluster
from coder_stack.components.parts.exposure import expose
from coder_stack.components.parts.status import Status, conditions_of
from coder_stack.components.parts.workload import Labels, Workload, ready_replicas
from coder_stack.components.parts.workspace_rbac import workspace_rbac
from coder_stack.conditions import Condition, control_plane_ready, database_ready
from coder_stack.naming import workspace_role_name
from coder_stack.settings import ControlPlaneSettings


@dataclass(frozen=True, kw_only=True)
class ControlPlaneArgs:
    """Arguments of a ControlPlane."""

    settings: ControlPlaneSettings = field(default_factory=ControlPlaneSettings)
    replicas: pulumi.Input[int] | None = None
    """Overrides the settings: the license may allow fewer pods."""
    cluster: Kubeconfig | None = None
    """Where to ask why the database is not ready."""
    keep_namespace: bool = False
    """Keep the namespace when the stack is destroyed, because it holds a kept database."""


class ControlPlane(pulumi.ComponentResource):
    """coderd, its Service, and its permissions to create workspaces."""

    url: pulumi.Output[str]
    """URL inside the cluster."""
    namespace: pulumi.Input[str]
    """Namespace of coderd. Waits for the namespace if the stack creates it."""
    image: pulumi.Output[str]
    """Image of the pods."""
    ready_replicas: pulumi.Output[int]
    """Number of ready pods as of the last refresh."""
    phase: pulumi.Output[str]
    """`Ready` if every wanted pod is ready, else `Pending`."""
    status: pulumi.Output[Status]
    conditions: pulumi.Output[list[dict[str, str]]]
    """ControlPlaneReady, and DatabaseReady with a database of CloudNativePG."""

    def __init__(
        self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:ControlPlane", name, None, opts)
        want = args.settings
        self.namespace = namespace = self._namespace(name, args)
        workload = Workload(
            name=name,
            object_name=want.name,
            namespace=namespace,
            labels=Labels(name="coder", instance=want.name, component="coderd", more=want.labels),
            parent=self,
        )
        account = workload.service_account(want.service_account_annotations)
        workspace_rbac(
            name,
            object_name=workspace_role_name(want.name),
            namespaces={
                want.namespace: namespace,
                **{each: each for each in want.workspace_namespaces if each != want.namespace},
            },
            account=account,
            deployments=want.workspace_deployments,
            labels=workload.labels.all,
            parent=self,
        )
        wanted = pulumi.Output.from_input(want.replicas if args.replicas is None else args.replicas)
        database = (
            database_cluster(workload, want, want.cloud_native_pg, args.cluster)
            if want.cloud_native_pg
            else None
        )
        template = workload.template(want, coderd_container(want), account)
        after = [database] if database else []
        deployment = workload.deployment(want, template, replicas=wanted, after=after)
        service = expose(workload, want)
        self._outputs(want, wanted, deployment, service, database)

    def _namespace(self, name: str, args: ControlPlaneArgs) -> pulumi.Input[str]:
        want, database = args.settings, args.settings.cloud_native_pg
        # A namespace is deleted with everything in it.
        keep = args.keep_namespace or (database is not None and database.deletion == "keep")
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
            opts=pulumi.ResourceOptions(parent=self, retain_on_delete=keep),
        )
        return namespace.metadata.name

    def _outputs(
        self,
        want: ControlPlaneSettings,
        wanted: pulumi.Output[int],
        deployment: apps.v1.Deployment,
        service: core.v1.Service,
        database: DatabaseCluster | None,
    ) -> None:
        host = pulumi.Output.concat(
            service.metadata.name, ".", self.namespace, ".svc.cluster.local"
        )
        self.url = pulumi.Output.concat(f"{want.scheme}://", host, f":{want.service_port}")
        self.image = pulumi.Output.from_input(want.image.reference)
        self.ready_replicas = ready_replicas(deployment)
        ready = pulumi.Output.all(wanted, self.ready_replicas).apply(
            lambda pods: control_plane_ready("controlPlane", int(pods[0]), int(pods[1]))
        )
        self.phase = ready.apply(lambda found: "Ready" if found.status == "True" else "Pending")
        conditions: list[pulumi.Output[Condition]] = [ready]
        if database and want.cloud_native_pg:
            name, instances = want.database_name, want.cloud_native_pg.instances
            conditions.append(
                database.facts.apply(
                    lambda found: database_ready("controlPlane", name, instances, found)
                )
            )
        self.status = pulumi.Output.all(*conditions).apply(
            lambda found: Status(conditions=tuple(found))
        )
        self.conditions = conditions_of(self.status)
        self.register_outputs({})  # the stack exports them; the state needs them once
