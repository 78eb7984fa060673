"""coderd itself: what to run, how it is reached, and what stands around it."""

from typing import Literal

from pydantic import Field, model_validator

from coder_stack.settings.part import Label, Manifest, Part, SecretKey, Url
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


class Service(Part):
    """The Service in front of the pods."""

    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = Field(
        default="ClusterIP", description="Type of the Service."
    )
    port: int = Field(default=80, ge=1, le=65535, description="Port for http.")
    tls_port: int = Field(default=443, ge=1, le=65535, description="Port for https, with `tls`.")
    annotations: dict[str, str] = Field(default={}, description="Annotations of the Service.")


class Database(Part):
    """Where the PostgreSQL URL is: a Secret in coderd's namespace, made by somebody else."""

    secret_name: Label = Field(description="Name of the Secret.")
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

    class_name: str | None = Field(default=None, description="Ingress class. Default: cluster's.")
    annotations: dict[str, str] = Field(default={}, description="Annotations of the Ingress.")
    tls_secret_name: Label | None = Field(
        default=None, description="Secret with the certificate of the host."
    )
    wildcard_tls_secret_name: Label | None = Field(
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
    annotations: dict[str, str] = Field(default={}, description="Annotations of the HTTPRoute.")


class PodDisruptionBudget(Part):
    """How many pods a drain of nodes must leave."""

    min_available: int | str | None = Field(default=None, description="At least these stay.")
    max_unavailable: int | str | None = Field(
        default=None, description="At most these go. Default: 1, if neither is given."
    )

    @model_validator(mode="after")
    def _one(self) -> "PodDisruptionBudget":
        if self.min_available is not None and self.max_unavailable is not None:
            raise ValueError("give minAvailable or maxUnavailable, not both")
        return self


class NetworkPolicy(Part):
    """Who may connect to the pods; nothing is said about where they connect to."""

    allow_from: tuple[Manifest, ...] = Field(
        default=(),
        strict=False,
        description="Peers as in Kubernetes (`from`). Default: everybody, on our ports only.",
    )


class ServiceMonitor(Part):
    """A Prometheus Operator ServiceMonitor; switches coderd's metrics on."""

    interval: str = Field(default="30s", pattern=r"^\d+(ms|s|m|h)$", description="How often.")
    labels: dict[str, str] = Field(
        default={}, description="Labels by which your Prometheus finds it."
    )


class ControlPlane(Workload):
    """coderd itself."""

    name: Label = Field(
        default="coder", description="Name of the Deployment, Service and ServiceAccount."
    )
    namespace: Label = Field(default="coder", description="Namespace of coderd.")
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
    wildcard_access_url: str | None = Field(
        default=None,
        pattern=r"^\*[-.a-zA-Z0-9]*\.[-.a-zA-Z0-9:]+$",
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

    @model_validator(mode="after")
    def _hosts(self) -> "ControlPlane":
        if (self.ingress or self.http_route) and not self.access_url:
            raise ValueError("ingress and httpRoute need accessUrl: its host is theirs")
        return self

    @property
    def in_cluster_url(self) -> str:
        """Where the Service is reached inside the cluster (CP4)."""
        scheme, port = ("https", self.service.tls_port) if self.tls else ("http", self.service.port)
        return f"{scheme}://{self.name}.{self.namespace}.svc.cluster.local:{port}"
