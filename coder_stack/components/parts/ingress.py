"""An Ingress or an HTTPRoute for coderd's hosts, to the Service's http port.

Controllers, Gateways and certificates are not created here.
"""

from urllib.parse import urlsplit

from pulumi_kubernetes import apiextensions, core, networking

from coder_stack.components.parts.workload import Workload
from coder_stack.settings import ControlPlaneSettings, HttpRoute, Ingress

# Some types are quoted: the SDK loads a Kubernetes API group when it is first used.


def ingress(
    workload: Workload, plane: ControlPlaneSettings, want: Ingress, service: core.v1.Service
) -> "networking.v1.Ingress":
    """Create an Ingress with one rule for each host."""
    host, wildcard = _access_host(plane), _wildcard_host(plane)
    certificates = {host: want.tls_secret_name}
    if wildcard:
        certificates[wildcard] = want.wildcard_tls_secret_name
    backend = networking.v1.IngressBackendArgs(
        service=networking.v1.IngressServiceBackendArgs(
            name=service.metadata.name,
            port=networking.v1.ServiceBackendPortArgs(name="http"),
        )
    )
    annotations = dict(want.annotations)
    if not want.wait:
        annotations["pulumi.com/skipAwait"] = "true"
    return networking.v1.Ingress(
        f"{workload.name}-ingress",
        metadata=workload.metadata(annotations=annotations),
        spec=networking.v1.IngressSpecArgs(
            ingress_class_name=want.class_name,
            rules=[
                networking.v1.IngressRuleArgs(
                    host=each,
                    http=networking.v1.HTTPIngressRuleValueArgs(
                        paths=[
                            networking.v1.HTTPIngressPathArgs(
                                path="/", path_type="Prefix", backend=backend
                            )
                        ]
                    ),
                )
                for each in certificates
            ],
            tls=[
                networking.v1.IngressTLSArgs(hosts=[each], secret_name=secret)
                for each, secret in certificates.items()
                if secret
            ]
            or None,
        ),
        opts=workload.child_options(),
    )


def http_route(
    workload: Workload, plane: ControlPlaneSettings, want: HttpRoute, service: core.v1.Service
) -> "apiextensions.CustomResource":
    """Create one route for all hosts, attached to the given Gateways."""
    backend = {"name": service.metadata.name, "port": plane.service.port}
    everything = {"path": {"type": "PathPrefix", "value": "/"}}
    return apiextensions.CustomResource(
        f"{workload.name}-http-route",
        api_version="gateway.networking.k8s.io/v1",
        kind="HTTPRoute",
        metadata=workload.metadata(annotations=want.annotations),
        spec={
            "parentRefs": list(want.parent_refs),
            "hostnames": [host for host in (_access_host(plane), _wildcard_host(plane)) if host],
            "rules": [{"matches": [everything], "backendRefs": [backend]}],
        },
        opts=workload.child_options(),
    )


def _access_host(plane: ControlPlaneSettings) -> str:
    """Return the host of the access URL, which the settings require here."""
    return urlsplit(plane.access_url or "").hostname or ""


def _wildcard_host(plane: ControlPlaneSettings) -> str | None:
    """Turn `*--apps.a.test` into `*.a.test`: Kubernetes takes a wildcard for a whole label only."""
    wildcard = plane.wildcard_access_url
    if not wildcard:
        return None
    parent = wildcard.split(":")[0].split(".", 1)[1]
    return f"*.{parent.lower()}"
