"""coderd itself: what to run, how it is reached, and what stands around it."""

import re
from collections.abc import Collection, Iterator
from typing import Annotated, Literal

from pydantic import Field, PlainValidator

from coder_stack.naming import CODERD_NAME, CODERD_NAMESPACE
from coder_stack.settings.part import (
    Annotations,
    Clash,
    Label,
    Labels,
    Manifest,
    ObjectName,
    Part,
    SecretKey,
    Shape,
    Url,
    WildcardHost,
)
from coder_stack.settings.workload import Image, Probe, Resources, Workload

__all__ = [
    "ControlPlane",
    "Database",
    "HttpRoute",
    "Ingress",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "Service",
    "ServiceMonitor",
    "Tls",
]


def _pods(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and re.fullmatch(_SHARE, value):
        return value
    raise ValueError("must be a number of pods, or a share from 0% to 100%")


_SHARE = r"(?:100|[0-9]{1,2})%"
_Count = Annotated[int, Field(ge=0)]
_Share = Annotated[str, Field(pattern=f"^{_SHARE}$")]
Pods = Annotated[int | str, PlainValidator(_pods, json_schema_input_type=_Count | _Share)]


class Service(Part):
    """The Service in front of the pods."""

    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = Field(
        default="ClusterIP", description="Type of the Service."
    )
    port: int = Field(default=80, ge=1, le=65535, description="Port for http.")
    tls_port: int = Field(default=443, ge=1, le=65535, description="Port for https, with `tls`.")
    annotations: Annotations = Field(default={}, description="Annotations of the Service.")


class Database(Part):
    """Where the PostgreSQL URL is: a Secret in coderd's namespace, made by somebody else."""

    secret_name: ObjectName = Field(description="Name of the Secret.")
    secret_key: SecretKey = Field(
        default="url", description="Key in the Secret's data that holds the URL."
    )


class Tls(Part):
    """Certificates that the pods serve themselves."""

    secret_names: tuple[Label, ...] = Field(
        min_length=1, strict=False, description="Secrets of type kubernetes.io/tls."
    )


class Ingress(Part):
    """An Ingress for the host of the access URL."""

    class_name: ObjectName | None = Field(
        default=None, description="Ingress class. Default: cluster's."
    )
    annotations: Annotations = Field(default={}, description="Annotations of the Ingress.")
    tls_secret_name: ObjectName | None = Field(
        default=None, description="Secret with the certificate of the host."
    )
    wildcard_tls_secret_name: ObjectName | None = Field(
        default=None, description="Secret with the certificate of the wildcard host."
    )
    wait: bool = Field(
        default=True, description="Wait until the controller has given it an address."
    )


class HttpRoute(Part):
    """A Gateway API HTTPRoute for the host of the access URL."""

    parent_refs: tuple[Manifest, ...] = Field(
        min_length=1, strict=False, description="Gateways to attach to, as in the Gateway API."
    )
    annotations: Annotations = Field(default={}, description="Annotations of the HTTPRoute.")


class PodDisruptionBudget(Part):
    """How many pods a drain of nodes must leave."""

    min_available: Pods | None = Field(
        default=None, description="At least these stay: a number, or a share as `50%`."
    )
    max_unavailable: Pods | None = Field(
        default=None, description="At most these go. Default: 1, if neither is given."
    )

    def clashes(self, unsure: Collection[str] = ()) -> Iterator[Clash]:
        """Kubernetes takes one of the two."""
        del unsure
        if self.min_available is not None and self.max_unavailable is not None:
            yield Clash("maxUnavailable", "give it or minAvailable, not both")


class NetworkPolicy(Part):
    """Who may connect to the pods; nothing is said about where they connect to."""

    allow_from: tuple[Manifest, ...] = Field(
        default=(),
        strict=False,
        description="Peers as in Kubernetes (`from`). Default: everybody, on our ports only.",
    )


class ServiceMonitor(Part):
    """A Prometheus Operator ServiceMonitor; switches coderd's metrics on."""

    interval: Annotated[str, Shape(r"[0-9]+(?:ms|s|m|h)", "a duration, e.g. 30s")] = Field(
        default="30s", description="How often Prometheus asks."
    )
    labels: Labels = Field(default={}, description="Labels by which your Prometheus finds it.")


class ControlPlane(Workload):
    """coderd itself."""

    name: Label = Field(
        default=CODERD_NAME, description="Name of the Deployment, Service and ServiceAccount."
    )
    namespace: Label = Field(default=CODERD_NAMESPACE, description="Namespace of coderd.")
    create_namespace: bool = Field(
        default=True,
        description="Create and own it. With false it must exist, and is never deleted.",
    )
    image: Image = Field(default=Image(), description="Which image to run.")
    resources: Resources = Field(
        default=Resources(requests={"cpu": "500m", "memory": "1Gi"}, limits={"memory": "4Gi"}),
        description="Requests and limits of a pod.",
    )
    service: Service = Field(default=Service(), description="The Service in front of coderd.")
    access_url: Url | None = Field(
        default=None, description="URL at which people reach Coder. Default: the Service's own."
    )
    wildcard_access_url: WildcardHost | None = Field(
        default=None,
        description="Host for workspace apps on subdomains, e.g. `*.coder.example.com`.",
    )
    database: Database | None = Field(
        default=None, description="The database. Default: Coder's built-in one, for trying it out."
    )
    tls: Tls | None = Field(default=None, description="https in the pods. Default: http only.")
    ingress: Ingress | None = Field(default=None, description="An Ingress. Default: none.")
    http_route: HttpRoute | None = Field(
        default=None, description="An HTTPRoute of the Gateway API. Default: none."
    )
    readiness_probe: Probe = Field(default=Probe(), description="Whether a pod gets traffic.")
    liveness_probe: Probe = Field(
        default=Probe(enabled=False), description="Whether a pod is restarted."
    )
    pod_disruption_budget: PodDisruptionBudget | None = Field(
        default=None, description="A PodDisruptionBudget. Default: none."
    )
    network_policy: NetworkPolicy | None = Field(
        default=None, description="A NetworkPolicy. Default: none."
    )
    service_monitor: ServiceMonitor | None = Field(
        default=None, description="A ServiceMonitor and coderd's metrics. Default: none."
    )
    workspace_deployments: bool = Field(
        default=True, description="Let templates create Deployments, beside pods and volumes."
    )
    workspace_namespaces: tuple[Label, ...] = Field(
        default=(), strict=False, description="Further, existing namespaces for workspaces."
    )

    def clashes(self, unsure: Collection[str] = ()) -> Iterator[Clash]:
        """Hosts and ports, beside what is true of any workload."""
        yield from super().clashes(unsure)
        for field, given in (("ingress", self.ingress), ("httpRoute", self.http_route)):
            if given and not self.access_url and "accessUrl" not in unsure:
                yield Clash(field, "needs accessUrl: its host is theirs")
        wildcard_missing = not self.wildcard_access_url and "wildcardAccessUrl" not in unsure
        if self.ingress and self.ingress.wildcard_tls_secret_name and wildcard_missing:
            yield Clash("ingress.wildcardTlsSecretName", "needs wildcardAccessUrl")
        if self.tls and self.service.port == self.service.tls_port:
            yield Clash("service.tlsPort", f"must not be {self.service.port}, which is port")

    @property
    def in_cluster_url(self) -> str:
        """Where the Service is reached inside the cluster (CP4)."""
        scheme, port = ("https", self.service.tls_port) if self.tls else ("http", self.service.port)
        return f"{scheme}://{self.name}.{self.namespace}.svc.cluster.local:{port}"
