"""An Ingress or an HTTPRoute for the hosts of coderd or a proxy, to the Service's http port.

Controllers, Gateways and certificates are not created here.
"""

from pulumi_kubernetes import apiextensions, core, networking

from coder_stack.components.parts.workload import Workload
from coder_stack.settings import ExposedSettings, HttpRoute, Ingress

# Some types are quoted: the SDK loads a Kubernetes API group when it is first used.


def ingress(
    workload: Workload, settings: ExposedSettings, want: Ingress, service: core.v1.Service
) -> "networking.v1.Ingress":
    """Create an Ingress with one rule for each host."""
    secrets = {
        "accessUrl": want.tls_secret_name,
        "wildcardAccessUrl": want.wildcard_tls_secret_name,
    }
    certificates = {host: secrets[field] for field, host in settings.routed_hosts.items()}
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
    workload: Workload, settings: ExposedSettings, want: HttpRoute, service: core.v1.Service
) -> "apiextensions.CustomResource":
    """Create one route for all hosts, attached to the given Gateways."""
    backend = {"name": service.metadata.name, "port": settings.service.port}
    everything = {"path": {"type": "PathPrefix", "value": "/"}}
    return apiextensions.CustomResource(
        f"{workload.name}-http-route",
        api_version="gateway.networking.k8s.io/v1",
        kind="HTTPRoute",
        metadata=workload.metadata(annotations=want.annotations),
        spec={
            "parentRefs": list(want.parent_refs),
            "hostnames": list(settings.routed_hosts.values()),
            "rules": [{"matches": [everything], "backendRefs": [backend]}],
        },
        opts=workload.child_options(),
    )
