"""A workspace proxy: its registration in coderd, Secret, ServiceAccount, Deployment, Service (W1).

It is exposed as the control plane is, by parts/exposure.py (W2). Without entitlement all objects
exist except the registration and the pods (E4).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes import apps, core

from coder_stack.components.parts.credential_secret import credential_secret
from coder_stack.components.parts.exposure import expose
from coder_stack.components.parts.listening import (
    HTTP_ADDRESS,
    listening_container,
    listening_env,
    relay_env,
)
from coder_stack.components.parts.operator_handle import OperatorHandle
from coder_stack.components.parts.pod import Container, secret_env
from coder_stack.components.parts.status import Status, collect_facts, conditions_of, summary_of
from coder_stack.components.parts.workload import (
    Labels,
    Workload,
    licensed_replicas,
    pod_revision,
    ready_replicas,
)
from coder_stack.conditions import (
    LicenseFacts,
    ObjectFacts,
    deployment_ready,
    feature_entitled,
    proxy_healthy,
    proxy_registered,
)
from coder_stack.dynamic.proxy_health import ProxyHealth
from coder_stack.dynamic.workspace_proxy import WorkspaceProxyRegistration
from coder_stack.environment import ACCESS_URL, PRIMARY_URL
from coder_stack.features import WORKSPACE_PROXIES
from coder_stack.naming import at_cluster, proxy_name, proxy_secret_name
from coder_stack.settings import Image, ProxySettings


@dataclass(frozen=True, kw_only=True)
class WorkspaceProxyArgs:
    """Arguments of a WorkspaceProxy."""

    settings: ProxySettings
    operator: OperatorHandle
    image: Image
    """Default image: the control plane's."""
    primary_url: pulumi.Input[str]
    """Default URL of coderd for the proxy."""
    namespace: pulumi.Input[str]
    """Default namespace: coderd's."""
    after: Sequence[pulumi.Resource] = ()
    """Resources that the pods wait for."""


class WorkspaceProxy(pulumi.ComponentResource):
    """A proxy near its users that relays connections to workspaces."""

    registration: WorkspaceProxyRegistration
    secret: core.v1.Secret
    deployment: apps.v1.Deployment
    service: core.v1.Service
    health: ProxyHealth
    status: pulumi.Output[Status]
    conditions: pulumi.Output[list[dict[str, str]]]
    summary: pulumi.Output[dict[str, Any]]
    """For the stack's outputs: id, display name, URL, health and version; see `_status`."""

    def __init__(
        self, name: str, args: WorkspaceProxyArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:WorkspaceProxy", name, None, opts)
        self._name = name
        self._args = args
        self._settings = want = args.settings
        self._workload = Workload(
            name=at_cluster(name, want.cluster),
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
        self._replicas = licensed_replicas(
            want.replicas, self.registration.provisioned, self.registration.enabled
        )
        self.secret = self._secret()
        self._template = self._workload.template(
            want,
            self._container(),
            # A proxy sends no requests to Kubernetes.
            self._workload.service_account(want.service_account_annotations, automount=False),
            annotations={"checksum/secret": self.registration.proxy_token_sha256},
        )
        self.deployment = self._workload.deployment(
            want, self._template, replicas=self._replicas, after=[self.secret, *args.after]
        )
        self.service = expose(self._workload, want)
        self.health = self._health()
        self.status = self._facts().apply(lambda facts: _status(want, facts))
        self.conditions = conditions_of(self.status)
        self.summary = summary_of(self.status)
        self.register_outputs({})  # the stack exports them; the state needs them once

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
            opts=self._workload.child_options(),
        )

    def _secret(self) -> core.v1.Secret:
        want = self._settings
        return credential_secret(
            f"{self._workload.name}-secret",
            self._workload.metadata(want.secret_name or proxy_secret_name(want.name)),
            want.secret_key,
            self.registration.proxy_token,
            self._workload.child_options(),
        )

    def _container(self) -> Container:
        want = self._settings
        plain: dict[str, pulumi.Input[str] | None] = {
            PRIMARY_URL: want.primary_url or self._args.primary_url,
            ACCESS_URL: want.access_url,
            "CODER_WILDCARD_ACCESS_URL": want.wildcard_access_url,
            "CODER_PROXY_DERP_ONLY": "true" if want.derp_only else None,
            "CODER_HTTP_ADDRESS": HTTP_ADDRESS,
        }
        return listening_container(
            want,
            name="proxy",
            image=want.image or self._args.image,
            args=["wsproxy", "server"],
            env=[
                *_variables(plain),
                secret_env("CODER_PROXY_SESSION_TOKEN", self.secret.metadata.name, want.secret_key),
                *_variables(listening_env(want)),
                *relay_env(want),
            ],
        )

    def _health(self) -> ProxyHealth:
        want, operator = self._settings, self._args.operator
        return ProxyHealth(
            f"{self._name}-health",
            connection=operator.connection,
            proxy_id=self.registration.proxy_id,
            proxy_name=want.name,
            timeout_seconds=want.health_timeout_seconds if want.replicas else 0,
            revision=pod_revision(
                self._template, self._replicas, self.deployment, self._args.image.reference
            ),
            opts=self._workload.child_options(self.deployment, self.service),
        )

    def _facts(self) -> pulumi.Output["ProxyFacts"]:
        registered = self.registration
        return collect_facts(
            ProxyFacts,
            license=self._args.operator.license,
            proxy_id=registered.proxy_id,
            display_name=registered.display_name,
            provisioned=registered.provisioned,
            reason=registered.reason,
            deferred=registered.deferred,
            health=self.health.health,
            version=self.health.version,
            report=self.health.report,
            ready=ready_replicas(self.deployment),
        )


@dataclass(frozen=True, kw_only=True)
class ProxyFacts(ObjectFacts):
    """What the resources report on the registration, the pods and their health."""

    license: LicenseFacts
    proxy_id: str = ""
    display_name: str = ""
    health: str = ""
    version: str = ""
    report: str = ""
    ready: int = 0


def _variables(plain: Mapping[str, pulumi.Input[str] | None]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in plain.items() if value is not None]


def _status(want: ProxySettings, facts: ProxyFacts) -> Status:
    component = f"proxy/{want.name}"
    allowed = facts.license.allows(WORKSPACE_PROXIES)
    may_run = facts.provisioned or allowed
    return Status(
        conditions=(
            feature_entitled("WorkspaceProxyEntitled", component, WORKSPACE_PROXIES, facts.license),
            proxy_registered(component, facts, allowed=allowed),
            deployment_ready(component, want.replicas, facts.ready, may_run=may_run),
            proxy_healthy(component, provisioned=may_run, health=facts.health, report=facts.report),
        ),
        summary={
            "name": want.name,
            "displayName": facts.display_name,
            "proxyId": facts.proxy_id,
            "accessUrl": want.access_url,
            "health": facts.health,
            "version": facts.version,
            # Absent while all is well, so that outputs of earlier versions stay what they are.
            **({"report": facts.report} if facts.report else {}),
        },
    )
