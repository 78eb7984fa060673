"""How people reach coderd from outside the cluster: an Ingress or an HTTPRoute for its hosts.

Both lead to the Service's http port; the certificate people see is the controller's or Gateway's
business. Leaves alone the controllers, the Gateway and the certificates.
"""

from urllib.parse import urlsplit

from pulumi_kubernetes import apiextensions, core, networking

from coder_stack.components.parts.control_plane_workload import ControlPlaneWorkload
from coder_stack.settings import HttpRoute, Ingress

__all__ = ["http_route", "ingress"]

# Types of options are quoted: the SDK loads a Kubernetes group at its first mention.


def ingress(
    workload: ControlPlaneWorkload, want: Ingress, service: core.v1.Service
) -> "networking.v1.Ingress":
    """One rule for each host."""
    host, wildcard = _access_host(workload), _wildcard_host(workload)
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
        opts=workload.child(),
    )


def http_route(
    workload: ControlPlaneWorkload, want: HttpRoute, service: core.v1.Service
) -> "apiextensions.CustomResource":
    """One route for all hosts, attached to the given Gateways."""
    backend = {"name": service.metadata.name, "port": workload.settings.service.port}
    everything = {"path": {"type": "PathPrefix", "value": "/"}}
    return apiextensions.CustomResource(
        f"{workload.name}-http-route",
        api_version="gateway.networking.k8s.io/v1",
        kind="HTTPRoute",
        metadata=workload.metadata(annotations=want.annotations),
        spec={
            "parentRefs": list(want.parent_refs),
            "hostnames": [
                host for host in (_access_host(workload), _wildcard_host(workload)) if host
            ],
            "rules": [{"matches": [everything], "backendRefs": [backend]}],
        },
        opts=workload.child(),
    )


def _access_host(workload: ControlPlaneWorkload) -> str:
    """The settings see to it that there is one."""
    return urlsplit(workload.settings.access_url or "").hostname or ""


def _wildcard_host(workload: ControlPlaneWorkload) -> str | None:
    """Kubernetes takes a wildcard for a whole label only: `*--apps.a.test` becomes `*.a.test`."""
    wildcard = workload.settings.wildcard_access_url
    if not wildcard:
        return None
    parent = wildcard.split(":")[0].split(".", 1)[1]
    return f"*.{parent.lower()}"
