"""coderd's one container: what it listens on, what it is told by its environment, what it mounts.

Turns settings into a Container for components/pod.py and registers nothing. What the config says
about any workload (more environment, resources, where it runs) is laid over it there.
"""

from collections.abc import Sequence
from typing import Any

from coder_stack.components.parts.control_plane_workload import (
    HTTP_PORT,
    METRICS_PORT,
    TLS_PORT,
    ControlPlaneWorkload,
)
from coder_stack.components.parts.pod import Container, probe, secret_env
from coder_stack.environment import ACCESS_URL
from coder_stack.naming import fit
from coder_stack.settings import ControlPlaneSettings

__all__ = ["coderd_container"]

_CERTIFICATES = "/etc/ssl/certs/coder"


def coderd_container(workload: ControlPlaneWorkload) -> Container:
    """The container of one pod of coderd."""
    want = workload.settings
    certificates = want.tls.secret_names if want.tls else ()
    return Container(
        name="coder",
        image=want.image,
        args=["server"],
        env=_env(want),
        ports=workload.ports,
        readiness=probe(want.readiness_probe, "http"),
        liveness=probe(want.liveness_probe, "http"),
        volumes=[{"name": _volume(name), "secret": {"secretName": name}} for name in certificates],
        volume_mounts=[
            {"name": _volume(name), "mountPath": f"{_CERTIFICATES}/{name}", "readOnly": True}
            for name in certificates
        ],
    )


def _env(want: ControlPlaneSettings) -> list[dict[str, Any]]:
    plain = {
        "CODER_HTTP_ADDRESS": f"0.0.0.0:{HTTP_PORT}",
        # Without an access URL coderd opens a tunnel to the internet.
        ACCESS_URL: want.access_url or want.in_cluster_url,
    }
    if want.wildcard_access_url:
        plain["CODER_WILDCARD_ACCESS_URL"] = want.wildcard_access_url
    if want.tls:
        plain |= _tls(want.tls.secret_names)
    if want.service_monitor:
        plain |= {
            "CODER_PROMETHEUS_ENABLE": "true",
            "CODER_PROMETHEUS_ADDRESS": f"0.0.0.0:{METRICS_PORT}",
        }
    env: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in plain.items()]
    if want.database:
        database = want.database
        env.append(secret_env("CODER_PG_CONNECTION_URL", database.secret_name, database.secret_key))
    if want.replicas > 1:
        env += _relay()
    return env


def _tls(secret_names: Sequence[str]) -> dict[str, str]:
    folders = [f"{_CERTIFICATES}/{name}" for name in secret_names]
    return {
        "CODER_TLS_ENABLE": "true",
        "CODER_TLS_ADDRESS": f"0.0.0.0:{TLS_PORT}",
        "CODER_TLS_CERT_FILE": ",".join(f"{folder}/tls.crt" for folder in folders),
        "CODER_TLS_KEY_FILE": ",".join(f"{folder}/tls.key" for folder in folders),
    }


def _relay() -> list[dict[str, Any]]:
    """How the pods pass connections on to each other, each at its own address.

    Decided by the wanted number of pods: when the license opens the gate, pods are only added.
    """
    return [
        # First: Kubernetes fills in only what was named before.
        {"name": "KUBE_POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "CODER_DERP_SERVER_RELAY_URL", "value": f"http://$(KUBE_POD_IP):{HTTP_PORT}"},
    ]


def _volume(secret_name: str) -> str:
    return fit(f"tls-{secret_name}")
