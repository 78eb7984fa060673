"""A workspace proxy: registered in coderd, and running here with the token it got there.

Registration, Secret, an account without rights, Deployment, Service (W1), a disruption budget if
the config asks for one. Without entitlement everything is there but the registration and the pods
(E4). Leaves alone DNS, ingress and certificates in front of the Service, and what the proxy tells
coderd about itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes import apps, core

from coder_stack.components.parts.labels import Labels
from coder_stack.components.parts.licensed import gated_replicas, material_secret, revision
from coder_stack.components.parts.operator_handle import OperatorHandle
from coder_stack.components.parts.options import disruption_budget
from coder_stack.components.parts.pod import Container, probe, secret_env
from coder_stack.components.parts.status import Status, conditions_of, observed, summary_of
from coder_stack.components.parts.workload import Workload, ready_replicas
from coder_stack.conditions import (
    LicenseFacts,
    deployment_ready,
    entitled,
    proxy_healthy,
    proxy_registered,
)
from coder_stack.dynamic.proxy_health import ProxyHealth
from coder_stack.dynamic.workspace_proxy import WorkspaceProxyRegistration
from coder_stack.environment import ACCESS_URL, PRIMARY_URL
from coder_stack.features import WORKSPACE_PROXIES
from coder_stack.naming import proxy_name, proxy_secret_name
from coder_stack.settings import Image, ProxySettings

__all__ = ["WorkspaceProxy", "WorkspaceProxyArgs"]

_HTTP_PORT = 8080


@dataclass(frozen=True, kw_only=True)
class WorkspaceProxyArgs:
    """What decides how the proxy is registered and deployed."""

    settings: ProxySettings
    operator: OperatorHandle
    image: Image
    """The control plane's: used unless the settings name another."""
    primary_url: pulumi.Input[str]
    """Where the proxy reaches coderd: used unless the settings name another."""
    namespace: pulumi.Input[str]
    """Coderd's: used unless the settings name another."""


class WorkspaceProxy(pulumi.ComponentResource):
    """A proxy near its users, which relays to workspaces for coderd."""

    registration: WorkspaceProxyRegistration
    secret: core.v1.Secret
    deployment: apps.v1.Deployment
    service: core.v1.Service
    health: ProxyHealth
    status: pulumi.Output[Status]
    conditions: pulumi.Output[list[dict[str, str]]]
    summary: pulumi.Output[dict[str, Any]]
    """For the stack's outputs: id, looks, URL, health and version as coderd saw them last."""

    def __init__(
        self, name: str, args: WorkspaceProxyArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:WorkspaceProxy", name, None, opts)
        self._name = name
        self._args = args
        self._settings = want = args.settings
        self._workload = Workload(
            name=name,
            object_name=proxy_name(want.name),
            namespace=want.namespace or args.namespace,
            labels=Labels(
                name="coder-workspace-proxy",
                instance=want.name,
                component="workspace-proxy",
                more=want.labels,
            ),
            parent=self,
        )
        self.registration = self._registration()
        self._replicas = gated_replicas(
            want.replicas, self.registration.provisioned, self.registration.enabled
        )
        self.secret = self._secret()
        self._template = self._workload.template(
            want,
            self._container(),
            # A proxy asks nothing of Kubernetes.
            self._workload.account(want.service_account_annotations, automount=False),
            annotations={"checksum/secret": self.registration.proxy_token_sha256},
        )
        self.deployment = self._workload.deployment(
            want, self._template, replicas=self._replicas, after=[self.secret]
        )
        self.service = self._service()
        if want.pod_disruption_budget:
            disruption_budget(self._workload, want.pod_disruption_budget)
        self.health = self._health()
        self.status = self._seen().apply(lambda found: _status(want, found))
        self.conditions = conditions_of(self.status)
        self.summary = summary_of(self.status)
        self.register_outputs({"conditions": self.conditions, "summary": self.summary})

    def _registration(self) -> WorkspaceProxyRegistration:
        want, operator = self._settings, self._args.operator
        return WorkspaceProxyRegistration(
            f"{self._name}-registration",
            connection=operator.connection,
            name=want.name,
            display_name=want.display_name,
            icon=want.icon,
            trigger=want.rotation,
            enabled=operator.entitled(WORKSPACE_PROXIES),
            opts=self._workload.child(),
        )

    def _secret(self) -> core.v1.Secret:
        want = self._settings
        return material_secret(
            f"{self._name}-secret",
            self._workload.metadata(want.secret_name or proxy_secret_name(want.name)),
            want.secret_key,
            self.registration.proxy_token,
            self._workload.child(),
        )

    def _container(self) -> Container:
        want = self._settings
        plain: dict[str, pulumi.Input[str] | None] = {
            PRIMARY_URL: want.primary_url or self._args.primary_url,
            ACCESS_URL: want.access_url,
            "CODER_WILDCARD_ACCESS_URL": want.wildcard_access_url,
            "CODER_PROXY_DERP_ONLY": "true" if want.derp_only else None,
            "CODER_HTTP_ADDRESS": f"0.0.0.0:{_HTTP_PORT}",
        }
        return Container(
            name="proxy",
            image=want.image or self._args.image,
            args=["wsproxy", "server"],
            env=[
                *(
                    {"name": name, "value": value}
                    for name, value in plain.items()
                    if value is not None
                ),
                secret_env("CODER_PROXY_SESSION_TOKEN", self.secret.metadata.name, want.secret_key),
            ],
            ports={"http": _HTTP_PORT},
            readiness=probe(want.readiness_probe, "http"),
            liveness=probe(want.liveness_probe, "http"),
        )

    def _service(self) -> core.v1.Service:
        want = self._settings.service
        return core.v1.Service(
            f"{self._name}-service",
            metadata=self._workload.metadata(annotations=want.annotations),
            spec=core.v1.ServiceSpecArgs(
                type=want.type,
                selector=self._workload.labels.selector,
                ports=[core.v1.ServicePortArgs(name="http", port=want.port, target_port="http")],
            ),
            opts=self._workload.child(),
        )

    def _health(self) -> ProxyHealth:
        want, operator = self._settings, self._args.operator
        return ProxyHealth(
            f"{self._name}-health",
            connection=operator.connection,
            proxy_id=self.registration.proxy_id,
            proxy_name=want.name,
            timeout_seconds=want.health_timeout_seconds if want.replicas else 0,
            revision=revision(
                self._template, self._replicas, self.deployment, self._args.image.reference
            ),
            opts=self._workload.child(self.deployment, self.service),
        )

    def _seen(self) -> pulumi.Output["_Seen"]:
        registered = self.registration
        return observed(
            _Seen,
            license=self._args.operator.license,
            proxy_id=registered.proxy_id,
            display_name=registered.display_name,
            provisioned=registered.provisioned,
            reason=registered.reason,
            deferred=registered.deferred,
            health=self.health.health,
            version=self.health.version,
            ready=ready_replicas(self.deployment),
        )


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """Facts about the registration, the pods, and what coderd says of them."""

    license: LicenseFacts
    proxy_id: str = ""
    display_name: str = ""
    provisioned: bool = False
    reason: str = ""
    deferred: Sequence[str] = ()
    health: str = ""
    version: str = ""
    ready: int = 0


def _status(want: ProxySettings, found: _Seen) -> Status:
    about = f"proxy/{want.name}"
    allowed = found.license.allows(WORKSPACE_PROXIES)
    awake = found.provisioned or allowed
    return Status(
        conditions=(
            entitled("WorkspaceProxyEntitled", about, WORKSPACE_PROXIES, found.license),
            proxy_registered(
                about,
                provisioned=found.provisioned,
                reason=found.reason,
                deferred=found.deferred,
                allowed=allowed,
            ),
            deployment_ready(about, want.replicas, found.ready, gated=not awake),
            proxy_healthy(about, provisioned=awake, health=found.health),
        ),
        summary={
            "name": want.name,
            "displayName": found.display_name,
            "proxyId": found.proxy_id,
            "accessUrl": want.access_url,
            "health": found.health,
            "version": found.version,
        },
    )
