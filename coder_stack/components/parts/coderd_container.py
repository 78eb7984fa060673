"""coderd's container: its ports, environment and volumes, from the settings.

pod.py adds what the config says about any workload (more environment, resources, scheduling).
"""

from collections.abc import Sequence
from typing import Any

from coder_stack.components.parts.pod import Container, probe, secret_env
from coder_stack.environment import ACCESS_URL
from coder_stack.naming import fit
from coder_stack.settings import ControlPlaneSettings

# Ports inside the pod; the Service's own are in the config.
_HTTP_PORT = 8080
_TLS_PORT = 8443
METRICS_PORT = 2112
_CERTIFICATES = "/etc/ssl/certs/coder"


def coderd_ports(want: ControlPlaneSettings) -> dict[str, int]:
    """Return the container's ports by name."""
    ports = {"http": _HTTP_PORT}
    if want.tls:
        ports["https"] = _TLS_PORT
    if want.service_monitor:
        ports["metrics"] = METRICS_PORT
    return ports


def coderd_container(want: ControlPlaneSettings) -> Container:
    """Return the container of a pod of coderd."""
    certificates = want.tls.secret_names if want.tls else ()
    return Container(
        name="coder",
        image=want.image,
        args=["server"],
        env=_env(want),
        ports=coderd_ports(want),
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
        "CODER_HTTP_ADDRESS": f"0.0.0.0:{_HTTP_PORT}",
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
    if want.database_secret:
        env.append(secret_env("CODER_PG_CONNECTION_URL", *want.database_secret))
    if want.replicas > 1:
        env += _relay()
    return env


def _tls(secret_names: Sequence[str]) -> dict[str, str]:
    folders = [f"{_CERTIFICATES}/{name}" for name in secret_names]
    return {
        "CODER_TLS_ENABLE": "true",
        "CODER_TLS_ADDRESS": f"0.0.0.0:{_TLS_PORT}",
        "CODER_TLS_CERT_FILE": ",".join(f"{folder}/tls.crt" for folder in folders),
        "CODER_TLS_KEY_FILE": ",".join(f"{folder}/tls.key" for folder in folders),
    }


def _relay() -> list[dict[str, Any]]:
    """Let the pods relay connections to each other, each at its own address.

    The wanted number of pods decides: when the license allows more pods, the first one stays.
    """
    return [
        # First, as Kubernetes substitutes only variables that are defined before.
        {"name": "KUBE_POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "CODER_DERP_SERVER_RELAY_URL", "value": f"http://$(KUBE_POD_IP):{_HTTP_PORT}"},
    ]


def _volume(secret_name: str) -> str:
    return fit(f"tls-{secret_name}")
