"""Pod templates from the config, the same for coderd, daemons and proxies.

Sets the safe defaults of the security context. Command, ports, probes and the container's own
environment come from the component.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi_kubernetes import core, meta

from coder_stack.naming import fit
from coder_stack.settings import Image, Probe, SecretRef, WorkloadSettings

# Coder's own image runs as this user.
_USER = 1000
CONTAINER_CONTEXT: Mapping[str, Any] = {
    "runAsNonRoot": True,
    "runAsUser": _USER,
    "runAsGroup": _USER,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
_POD_CONTEXT: Mapping[str, Any] = {
    "runAsNonRoot": True,
    "fsGroup": _USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}


@dataclass(frozen=True, kw_only=True)
class Container:
    """What a component defines about its one container."""

    name: str
    image: Image
    args: Sequence[pulumi.Input[str]]
    env: Sequence[Mapping[str, Any]] = ()
    """As in Kubernetes; variables of the config override them."""
    ports: Mapping[str, int] = field(default_factory=dict[str, int])
    readiness: Mapping[str, Any] | None = None
    liveness: Mapping[str, Any] | None = None
    volumes: Sequence[Mapping[str, Any]] = ()
    volume_mounts: Sequence[Mapping[str, Any]] = ()


def pod_template(
    workload: WorkloadSettings,
    container: Container,
    *,
    service_account: pulumi.Input[str],
    labels: Mapping[str, str],
    annotations: Mapping[str, pulumi.Input[str]] | None = None,
    grace_seconds: int = 60,
) -> core.v1.PodTemplateSpecArgs:
    """Return the template of a Deployment, without empty fields, so that diffs stay short."""
    spec: dict[str, Any] = {
        "service_account_name": service_account,
        "termination_grace_period_seconds": grace_seconds,
        "security_context": merged(_POD_CONTEXT, workload.pod_security_context),
        "containers": [_container(workload, container)],
        "image_pull_secrets": [{"name": name} for name in container.image.pull_secrets],
        "node_selector": workload.node_selector,
        "tolerations": list(workload.tolerations),
        "affinity": workload.affinity,
        "topology_spread_constraints": list(workload.topology_spread_constraints),
        "priority_class_name": workload.priority_class_name,
        "volumes": [*container.volumes, *_ca_volumes(workload.ca_bundles), *workload.volumes],
    }
    return core.v1.PodTemplateSpecArgs(
        metadata=meta.v1.ObjectMetaArgs(
            labels={**workload.labels, **workload.pod_labels, **labels},
            annotations={**workload.pod_annotations, **(annotations or {})} or None,
        ),
        spec=core.v1.PodSpecArgs(**_filled(spec)),
    )


def probe(settings: Probe, port: str, scheme: str = "HTTP") -> Mapping[str, Any] | None:
    """Return a probe of `/healthz`, or None if it is disabled."""
    if not settings.enabled:
        return None
    # The API server drops a delay of 0, which would then look like drift.
    delay = settings.initial_delay_seconds
    return {
        "httpGet": {"path": "/healthz", "port": port, "scheme": scheme},
        **({"initialDelaySeconds": delay} if delay else {}),
        "periodSeconds": settings.period_seconds,
        "timeoutSeconds": settings.timeout_seconds,
        "failureThreshold": settings.failure_threshold,
    }


def secret_env(name: str, secret: pulumi.Input[str], key: str) -> dict[str, Any]:
    """Return an environment variable that refers to a Secret."""
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}


def merged(defaults: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two mappings, and mappings within them; `over` wins."""
    result = dict(defaults)
    for key, value in over.items():
        below = result.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            result[key] = merged(below, value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            result[key] = value
    return result


def _container(workload: WorkloadSettings, container: Container) -> core.v1.ContainerArgs:
    bundles = [_ca_mount(ref) for ref in workload.ca_bundles]
    env = [*container.env]
    env += [{"name": name, "value": value} for name, value in workload.env.items()]
    env += [secret_env(name, ref.name, ref.key) for name, ref in workload.secret_env.items()]
    spec: dict[str, Any] = {
        "name": container.name,
        "image": container.image.reference,
        "image_pull_policy": container.image.pull_policy,
        "command": ["/opt/coder"],
        "args": list(container.args),
        "ports": [{"name": n, "containerPort": port} for n, port in container.ports.items()],
        "env": list({each["name"]: each for each in env}.values()),
        "env_from": list(workload.env_from),
        "resources": _filled(workload.resources.model_dump()),
        "readiness_probe": container.readiness,
        "liveness_probe": container.liveness,
        "security_context": merged(CONTAINER_CONTEXT, workload.security_context),
        "volume_mounts": [*container.volume_mounts, *bundles, *workload.volume_mounts],
    }
    return core.v1.ContainerArgs(**_filled(spec))


def _ca_volumes(bundles: Sequence[SecretRef]) -> list[dict[str, Any]]:
    """Return one volume for each Secret, also if several of its keys are bundles."""
    names = dict.fromkeys(ref.name for ref in bundles)
    return [{"name": _ca_volume(name), "secret": {"secretName": name}} for name in names]


def _ca_mount(ref: SecretRef) -> dict[str, Any]:
    """Mount a certificate authority as one file in the folder that Go programs read."""
    return {
        "name": _ca_volume(ref.name),
        # A Secret's name has no dot here, so no two bundles get the same file.
        "mountPath": f"/etc/ssl/certs/{ref.name}.{ref.key}",
        "subPath": ref.key,
        "readOnly": True,
    }


def _ca_volume(secret_name: str) -> str:
    return fit(f"ca-{secret_name}")


def _filled(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, [], {}, "")}
