"""coderd itself: its Deployment, how it is exposed, and the objects that belong to it."""

import re
from collections.abc import Collection, Iterator
from typing import Annotated, Literal

from pydantic import Field, PlainValidator

from coder_stack.naming import (
    CODERD_NAME,
    CODERD_NAMESPACE,
    database_name,
    database_secret_name,
)
from coder_stack.settings.database import CloudNativePg, Database
from coder_stack.settings.part import (
    Annotations,
    Clash,
    Label,
    Labels,
    Manifest,
    ObjectName,
    Part,
    Reference,
    Shape,
    StackName,
    Url,
    WildcardHost,
)
from coder_stack.settings.workload import Image, Probe, Resources, WorkloadSettings


def _pods(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and re.fullmatch(_SHARE, value):
        return value
    raise ValueError("must be a number of pods, or a percentage from 0% to 100%")


# What somebody else's coderd may be known by: the rest describes one that the stack deploys.
_OF_EXISTING = {"name", "namespace", "access_url", "image", "service", "tls"}
_SHARE = r"(?:100|[0-9]{1,2})%"
_Count = Annotated[int, Field(ge=0)]
_Share = Annotated[str, Field(pattern=f"^{_SHARE}$")]
_TLS_KEYS = ("tls.crt", "tls.key")
# Annotations by which an Ingress asks for a certificate.
_CERT_MANAGER = ("cert-manager.io/", "acme.cert-manager.io/", "kubernetes.io/tls-acme")
Pods = Annotated[int | str, PlainValidator(_pods, json_schema_input_type=_Count | _Share)]


class Service(Part):
    """The Service in front of the pods."""

    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = Field(
        default="ClusterIP", description="Type of the Service."
    )
    port: int = Field(default=80, ge=1, le=65535, description="Port for http.")
    tls_port: int = Field(default=443, ge=1, le=65535, description="Port for https, with `tls`.")
    annotations: Annotations = Field(default={}, description="Annotations for the Service.")


class Tls(Part):
    """TLS certificates that coderd itself serves."""

    secret_names: tuple[Label, ...] = Field(
        min_length=1, strict=False, description="Secrets of type `kubernetes.io/tls`."
    )

    def references(self) -> Iterator[Reference]:
        """Return the Secrets with the certificates."""
        for index, name in enumerate(self.secret_names):
            yield Reference(f"secretNames[{index}]", name, _TLS_KEYS, form="tls")


class Ingress(Part):
    """An Ingress for the host of the access URL."""

    class_name: ObjectName | None = Field(
        default=None, description="Ingress class. Default: the cluster's."
    )
    annotations: Annotations = Field(default={}, description="Annotations for the Ingress.")
    tls_secret_name: ObjectName | None = Field(
        default=None, description="Secret with the certificate for the host."
    )
    wildcard_tls_secret_name: ObjectName | None = Field(
        default=None, description="Secret with the certificate for the wildcard host."
    )
    wait: bool = Field(default=True, description="Wait until the Ingress has an address.")

    def references(self) -> Iterator[Reference]:
        """Return the Secrets with certificates, unless cert-manager creates them afterwards."""
        if any(key.startswith(_CERT_MANAGER) for key in self.annotations):
            return
        for field, name in (
            ("tlsSecretName", self.tls_secret_name),
            ("wildcardTlsSecretName", self.wildcard_tls_secret_name),
        ):
            if name:
                yield Reference(field, name, _TLS_KEYS, form="tls")


class HttpRoute(Part):
    """A Gateway API HTTPRoute for the host of the access URL."""

    parent_refs: tuple[Manifest, ...] = Field(
        min_length=1, strict=False, description="Gateways to attach to, as in the Gateway API."
    )
    annotations: Annotations = Field(default={}, description="Annotations for the HTTPRoute.")


class PodDisruptionBudget(Part):
    """A PodDisruptionBudget: how many pods may be evicted at once."""

    min_available: Pods | None = Field(
        default=None, description="Pods that must stay available: a number, or e.g. `50%`."
    )
    max_unavailable: Pods | None = Field(
        default=None, description="Pods that may be unavailable. Default: 1, if neither is set."
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Refuse both fields: Kubernetes takes one."""
        if self.min_available is not None and self.max_unavailable is not None:
            yield Clash("maxUnavailable", "set this or minAvailable, not both")


class NetworkPolicy(Part):
    """A NetworkPolicy for ingress traffic to the pods. Egress is not restricted."""

    allow_from: tuple[Manifest, ...] = Field(
        default=(),
        strict=False,
        description=(
            "Allowed peers, as `from` in Kubernetes. They must include the API server unless "
            "`access.url` is set. Default: all, on coderd's ports only."
        ),
    )


class ServiceMonitor(Part):
    """A ServiceMonitor of the Prometheus Operator. Also enables coderd's metrics."""

    interval: Annotated[str, Shape(r"[0-9]+(?:ms|s|m|h)", "a duration, e.g. 30s")] = Field(
        default="30s", description="Scrape interval."
    )
    labels: Labels = Field(default={}, description="Labels that your Prometheus selects.")


class ControlPlaneSettings(WorkloadSettings):
    """coderd itself."""

    deploy: bool = Field(
        default=True,
        description=(
            "Deploy coderd. If false, it is there already, e.g. from its Helm chart, and none of "
            "its objects is touched; needs `accessUrl`, or `access.throughApiServer` and `name`."
        ),
    )
    from_stack: StackName | None = Field(
        default=None,
        description=(
            "Another stack that deploys coderd: its URL, deployment id and image are taken from "
            "that stack's outputs, and none of its objects is touched."
        ),
    )
    name: Label = Field(
        default=CODERD_NAME, description="Name of the Deployment, Service and ServiceAccount."
    )
    namespace: Label = Field(default=CODERD_NAMESPACE, description="Namespace of coderd.")
    create_namespace: bool = Field(
        default=True,
        description="Create the namespace. If false, it must exist and is never deleted.",
    )
    image: Image = Field(default=Image(), description="Which image to run.")
    allow_downgrade: bool = Field(
        default=False,
        description=(
            "Allow a lower version than the running one. coderd does not start with a newer "
            "database: restore a backup first."
        ),
    )
    resources: Resources = Field(
        default=Resources(requests={"cpu": "500m", "memory": "1Gi"}, limits={"memory": "4Gi"}),
        description="Requests and limits of a pod.",
    )
    service: Service = Field(default=Service(), description="The Service in front of coderd.")
    access_url: Url | None = Field(
        default=None, description="URL at which users reach Coder. Default: the Service's URL."
    )
    wildcard_access_url: WildcardHost | None = Field(
        default=None,
        description="Host for workspace apps on subdomains, e.g. `*.coder.example.com`.",
    )
    database: Database | None = Field(
        default=None, description="The database. Default: coderd's built-in one, for trials only."
    )
    tls: Tls | None = Field(default=None, description="TLS in coderd's pods. Default: http only.")
    ingress: Ingress | None = Field(default=None, description="An Ingress. Default: none.")
    http_route: HttpRoute | None = Field(
        default=None, description="An HTTPRoute of the Gateway API. Default: none."
    )
    readiness_probe: Probe = Field(default=Probe(), description="Readiness probe.")
    liveness_probe: Probe = Field(default=Probe(enabled=False), description="Liveness probe.")
    pod_disruption_budget: PodDisruptionBudget | None = Field(
        default=None, description="A PodDisruptionBudget. Default: none."
    )
    network_policy: NetworkPolicy | None = Field(
        default=None, description="A NetworkPolicy. Default: none."
    )
    service_monitor: ServiceMonitor | None = Field(
        default=None, description="A ServiceMonitor, with coderd's metrics enabled. Default: none."
    )
    workspace_deployments: bool = Field(
        default=True, description="Let templates create Deployments, not only pods and volumes."
    )
    workspace_namespaces: tuple[Label, ...] = Field(
        default=(), strict=False, description="Additional existing namespaces for workspaces."
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Check hosts and ports, and what is true of any workload."""
        yield from super().clashes(invalid)
        yield from self._unused()
        for field, given in (("ingress", self.ingress), ("httpRoute", self.http_route)):
            if given and not self.access_url and "accessUrl" not in invalid:
                yield Clash(field, "needs accessUrl, which names the host")
        wildcard_missing = not self.wildcard_access_url and "wildcardAccessUrl" not in invalid
        if self.ingress and self.ingress.wildcard_tls_secret_name and wildcard_missing:
            yield Clash("ingress.wildcardTlsSecretName", "needs wildcardAccessUrl")
        if self.tls and self.service.port == self.service.tls_port:
            yield Clash("service.tlsPort", f"must differ from port, which is {self.service.port}")
        given_name = self.cloud_native_pg.name if self.cloud_native_pg else None
        if given_name == self.name and "name" not in invalid:
            why = "must differ from controlPlane.name: both need a ServiceAccount of their own"
            yield Clash("database.cloudNativePg.name", why)

    def _unused(self) -> Iterator[Clash]:
        """Refuse fields that would change nothing, because the stack does not deploy coderd."""
        if self.from_stack and "deploy" in self.model_fields_set:
            yield Clash("deploy", "is unused with fromStack: remove one of them")
        if not self.exists_already:
            return
        by = "fromStack" if self.from_stack else "deploy: false"
        allowed = _OF_EXISTING - ({"access_url"} if self.from_stack else set())
        for name in self.model_fields_set - allowed - {"deploy", "from_stack"}:
            alias = type(self).model_fields[name].alias or name
            yield Clash(alias, f"is unused with {by}: remove one of them")

    @property
    def exists_already(self) -> bool:
        """Whether somebody else deploys coderd."""
        return not self.deploy or self.from_stack is not None

    @property
    def cloud_native_pg(self) -> CloudNativePg | None:
        """The Cluster that the config declares, if it does."""
        return self.database.cloud_native_pg if self.database else None

    @property
    def database_name(self) -> str:
        """Name of that Cluster."""
        return (self.cloud_native_pg and self.cloud_native_pg.name) or database_name(self.name)

    @property
    def database_secret(self) -> tuple[str, str] | None:
        """Name and key of the Secret with the database's URL; None for the built-in database."""
        if self.cloud_native_pg:
            return database_secret_name(self.database_name), "uri"
        if self.database and self.database.secret_name:
            return self.database.secret_name, self.database.secret_key
        return None

    @property
    def scheme(self) -> str:
        """Whether the Service speaks https or http inside the cluster."""
        return "https" if self.tls else "http"

    @property
    def service_port(self) -> int:
        """The Service's port for that scheme."""
        return self.service.tls_port if self.tls else self.service.port

    @property
    def in_cluster_url(self) -> str:
        """The Service's URL inside the cluster (CP4)."""
        return f"{self.scheme}://{self.name}.{self.namespace}.svc.cluster.local:{self.service_port}"
