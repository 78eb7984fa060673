"""How users reach coderd or a workspace proxy: Service, TLS, Ingress, HTTPRoute; and its guards.

The control plane and proxies share these settings and what must fit together in them.
components/parts/exposure.py creates the objects.
"""

import re
from collections.abc import Collection, Iterator
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, PlainValidator

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
    Url,
    WildcardHost,
)
from coder_stack.settings.workload import Probe, WorkloadSettings


def _pods(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and re.fullmatch(_SHARE, value):
        return value
    raise ValueError("must be a number of pods, or a percentage from 0% to 100%")


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
    """TLS certificates that the pods themselves serve."""

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
            "Allowed peers, as `from` in Kubernetes. Those of coderd must include the API server "
            "unless `access.url` is set; those of a proxy, whatever users and coderd reach it "
            "through. Default: all, on the pods' ports only."
        ),
    )


class ServiceMonitor(Part):
    """A ServiceMonitor of the Prometheus Operator. Also enables the pods' metrics."""

    interval: Annotated[str, Shape(r"[0-9]+(?:ms|s|m|h)", "a duration, e.g. 30s")] = Field(
        default="30s", description="Scrape interval."
    )
    labels: Labels = Field(default={}, description="Labels that your Prometheus selects.")


class ExposedSettings(WorkloadSettings):
    """Options of a Deployment that users reach: how they do, and what guards it."""

    access_url: Url | None = Field(default=None, description="URL at which users reach it.")
    wildcard_access_url: WildcardHost | None = Field(
        default=None,
        description="Host for workspace apps on subdomains, e.g. `*.coder.example.com`.",
    )
    service: Service = Field(default=Service(), description="The Service in front of the pods.")
    tls: Tls | None = Field(default=None, description="TLS in the pods. Default: http only.")
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
        default=None, description="A ServiceMonitor, with metrics enabled. Default: none."
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Check hosts and ports, and what is true of any workload."""
        yield from super().clashes(invalid)
        for field, given in (("ingress", self.ingress), ("httpRoute", self.http_route)):
            if given and not self.access_url and "accessUrl" not in invalid:
                yield Clash(field, "needs accessUrl, which names the host")
        wildcard_missing = not self.wildcard_access_url and "wildcardAccessUrl" not in invalid
        if self.ingress and self.ingress.wildcard_tls_secret_name and wildcard_missing:
            yield Clash("ingress.wildcardTlsSecretName", "needs wildcardAccessUrl")
        if self.tls and self.service.port == self.service.tls_port:
            yield Clash("service.tlsPort", f"must differ from port, which is {self.service.port}")

    @property
    def access_host(self) -> str | None:
        """The host of the access URL, in lower case."""
        return urlsplit(self.access_url or "").hostname

    @property
    def wildcard_host(self) -> str | None:
        """The wildcard host in Kubernetes' form: of `*--apps.a.test` it is `*.a.test`.

        Kubernetes takes a wildcard for a whole label only.
        """
        if not self.wildcard_access_url:
            return None
        parent = self.wildcard_access_url.split(":")[0].split(".", 1)[1]
        return f"*.{parent.lower()}"

    @property
    def routed_hosts(self) -> dict[str, str]:
        """Hosts of the Ingress or HTTPRoute, with the fields that name them; empty without one."""
        hosts = {"accessUrl": self.access_host, "wildcardAccessUrl": self.wildcard_host}
        routed = self.ingress or self.http_route
        return {field: host for field, host in hosts.items() if host and routed}

    @property
    def scheme(self) -> str:
        """Whether the Service speaks https or http inside the cluster."""
        return "https" if self.tls else "http"

    @property
    def service_port(self) -> int:
        """The Service's port for that scheme."""
        return self.service.tls_port if self.tls else self.service.port
