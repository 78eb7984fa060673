"""coderd on Kubernetes: a namespace, an account with rights on workspaces, a Deployment, a Service.

Every object is a child of the component and goes with it. Leaves alone: the database and its
Secret, the namespaces of workspaces (they exist already), and everything that lives inside coderd.
"""

from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi_kubernetes import apps, core, meta

from coder_stack.components.workspace_rights import workspace_rights
from coder_stack.naming import fit
from coder_stack.settings import ControlPlane as Settings

_HTTP_PORT = 8080
# Coder's own image runs as this user.
_USER = 1000


@dataclass(frozen=True, kw_only=True)
class ControlPlaneArgs:
    """What decides how coderd is deployed."""

    settings: Settings = field(default_factory=Settings)


class ControlPlane(pulumi.ComponentResource):
    """coderd and what it needs to be reached and to create workspaces."""

    url: pulumi.Output[str]
    """Where coderd is reached inside the cluster."""
    ready_replicas: pulumi.Output[int]
    """Pods that Kubernetes called ready when it was last asked."""
    phase: pulumi.Output[str]
    """`Ready` once every wanted pod is ready, `Pending` before."""

    def __init__(
        self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:ControlPlane", name, None, opts)
        self._name = name
        self._settings = want = args.settings
        namespace = self._namespace()
        account = core.v1.ServiceAccount(
            f"{name}-account",
            metadata=self._metadata(want.name, namespace),
            opts=self._child(),
        )
        workspace_rights(
            name,
            object_name=fit(f"{want.name}-workspace-perms"),
            namespaces={
                want.namespace: namespace,
                **{place: place for place in want.workspace_namespaces if place != want.namespace},
            },
            account=account,
            deployments=want.workspace_deployments,
            labels=self._labels(),
            parent=self,
        )
        deployment = self._deployment(namespace, account)
        service = self._service(namespace)
        host = pulumi.Output.concat(service.metadata.name, ".", namespace, ".svc.cluster.local")
        self.url = pulumi.Output.concat("http://", host, f":{want.service.port}")
        self.ready_replicas = deployment.status.apply(_ready_replicas)
        self.phase = self.ready_replicas.apply(
            lambda ready: "Ready" if 0 < want.replicas <= ready else "Pending"
        )
        self.register_outputs(
            {"url": self.url, "readyReplicas": self.ready_replicas, "phase": self.phase}
        )

    def _namespace(self) -> pulumi.Input[str]:
        if not self._settings.create_namespace:
            return self._settings.namespace
        namespace = core.v1.Namespace(
            f"{self._name}-namespace",
            metadata=meta.v1.ObjectMetaArgs(
                name=self._settings.namespace, labels={"app.kubernetes.io/part-of": "coder"}
            ),
            opts=self._child(),
        )
        return namespace.metadata.name

    def _deployment(
        self, namespace: pulumi.Input[str], account: core.v1.ServiceAccount
    ) -> apps.v1.Deployment:
        want = self._settings
        return apps.v1.Deployment(
            f"{self._name}-deployment",
            metadata=self._metadata(want.name, namespace),
            spec=apps.v1.DeploymentSpecArgs(
                replicas=want.replicas,
                selector=meta.v1.LabelSelectorArgs(match_labels=self._selector()),
                template=core.v1.PodTemplateSpecArgs(
                    metadata=meta.v1.ObjectMetaArgs(labels=self._labels()),
                    spec=core.v1.PodSpecArgs(
                        service_account_name=account.metadata.name,
                        termination_grace_period_seconds=60,
                        containers=[self._container()],
                    ),
                ),
            ),
            opts=self._child(),
        )

    def _container(self) -> core.v1.ContainerArgs:
        want = self._settings
        return core.v1.ContainerArgs(
            name="coder",
            image=want.image.reference,
            image_pull_policy=want.image.pull_policy,
            command=["/opt/coder"],
            args=["server"],
            ports=[core.v1.ContainerPortArgs(name="http", container_port=_HTTP_PORT)],
            env=self._env(),
            readiness_probe=core.v1.ProbeArgs(
                http_get=core.v1.HTTPGetActionArgs(path="/healthz", port="http")
            ),
            security_context=core.v1.SecurityContextArgs(
                run_as_non_root=True,
                run_as_user=_USER,
                run_as_group=_USER,
                allow_privilege_escalation=False,
                capabilities=core.v1.CapabilitiesArgs(drop=["ALL"]),
                seccomp_profile=core.v1.SeccompProfileArgs(type="RuntimeDefault"),
            ),
        )

    def _env(self) -> list[core.v1.EnvVarArgs]:
        want = self._settings
        in_cluster = f"http://{want.name}.{want.namespace}.svc.cluster.local:{want.service.port}"
        plain = {
            "CODER_HTTP_ADDRESS": f"0.0.0.0:{_HTTP_PORT}",
            # Without an access URL coderd opens a tunnel to the internet.
            "CODER_ACCESS_URL": want.access_url or in_cluster,
            **want.env,
        }
        env = [core.v1.EnvVarArgs(name=name, value=value) for name, value in plain.items()]
        if want.database:
            env.append(
                core.v1.EnvVarArgs(
                    name="CODER_PG_CONNECTION_URL",
                    value_from=core.v1.EnvVarSourceArgs(
                        secret_key_ref=core.v1.SecretKeySelectorArgs(
                            name=want.database.secret_name, key=want.database.secret_key
                        )
                    ),
                )
            )
        return env

    def _service(self, namespace: pulumi.Input[str]) -> core.v1.Service:
        want = self._settings
        return core.v1.Service(
            f"{self._name}-service",
            metadata=self._metadata(want.name, namespace),
            spec=core.v1.ServiceSpecArgs(
                type=want.service.type,
                selector=self._selector(),
                ports=[
                    core.v1.ServicePortArgs(name="http", port=want.service.port, target_port="http")
                ],
            ),
            opts=self._child(),
        )

    def _child(self) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self)

    def _metadata(self, name: str, namespace: pulumi.Input[str]) -> meta.v1.ObjectMetaArgs:
        return meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=self._labels())

    def _selector(self) -> dict[str, Any]:
        """Fixed for the life of the Deployment: a selector cannot be changed in place."""
        return {
            "app.kubernetes.io/name": "coder",
            "app.kubernetes.io/instance": self._settings.name,
        }

    def _labels(self) -> dict[str, Any]:
        return {
            **self._selector(),
            "app.kubernetes.io/component": "coderd",
            "app.kubernetes.io/part-of": "coder",
            "app.kubernetes.io/managed-by": "pulumi",
        }


def _ready_replicas(status: apps.v1.outputs.DeploymentStatus | None) -> int:
    """Kubernetes leaves the field out while there is none."""
    return (status.ready_replicas if status else None) or 0
