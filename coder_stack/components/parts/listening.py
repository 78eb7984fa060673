"""What coderd and a workspace proxy listen on: ports, certificates, metrics, probes.

Both are the same program and take the same variables. What only one of them needs is in
coderd_container.py and components/workspace_proxy.py.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from coder_stack.components.parts.pod import Container, probe
from coder_stack.naming import fit
from coder_stack.settings import ExposedSettings, Image

# Ports inside the pod; the Service's own are in the config.
_HTTP_PORT = 8080
_TLS_PORT = 8443
METRICS_PORT = 2112
HTTP_ADDRESS = f"0.0.0.0:{_HTTP_PORT}"
_CERTIFICATES = "/etc/ssl/certs/coder"


def listening_ports(want: ExposedSettings) -> dict[str, int]:
    """Return the container's ports by name."""
    ports = {"http": _HTTP_PORT}
    if want.tls:
        ports["https"] = _TLS_PORT
    if want.service_monitor:
        ports["metrics"] = METRICS_PORT
    return ports


def listening_container(
    want: ExposedSettings,
    *,
    name: str,
    image: Image,
    args: Sequence[pulumi.Input[str]],
    env: Sequence[Mapping[str, Any]],
) -> Container:
    """Return a container with its ports, probes and certificates; `env` is the whole of it."""
    certificates = want.tls.secret_names if want.tls else ()
    return Container(
        name=name,
        image=image,
        args=args,
        env=env,
        ports=listening_ports(want),
        # The http port stays open with TLS, and the kubelet needs no certificate for it.
        readiness=probe(want.readiness_probe, "http"),
        liveness=probe(want.liveness_probe, "http"),
        volumes=[{"name": _volume(each), "secret": {"secretName": each}} for each in certificates],
        volume_mounts=[
            {"name": _volume(each), "mountPath": f"{_CERTIFICATES}/{each}", "readOnly": True}
            for each in certificates
        ],
    )


def listening_env(want: ExposedSettings) -> dict[str, str]:
    """Return the variables for certificates and metrics."""
    env: dict[str, str] = {}
    if want.tls:
        env |= _tls(want.tls.secret_names)
    if want.service_monitor:
        env |= {
            "CODER_PROMETHEUS_ENABLE": "true",
            "CODER_PROMETHEUS_ADDRESS": f"0.0.0.0:{METRICS_PORT}",
        }
    return env


def relay_env(want: ExposedSettings) -> list[dict[str, Any]]:
    """Let several pods relay connections to each other, each at its own address.

    The wanted number of pods decides: when the license allows more pods, the first one stays.
    """
    if want.replicas <= 1:
        return []
    return [
        # First, as Kubernetes substitutes only variables that are defined before.
        {"name": "KUBE_POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "CODER_DERP_SERVER_RELAY_URL", "value": f"http://$(KUBE_POD_IP):{_HTTP_PORT}"},
    ]


def _tls(secret_names: Sequence[str]) -> dict[str, str]:
    folders = [f"{_CERTIFICATES}/{name}" for name in secret_names]
    return {
        "CODER_TLS_ENABLE": "true",
        "CODER_TLS_ADDRESS": f"0.0.0.0:{_TLS_PORT}",
        "CODER_TLS_CERT_FILE": ",".join(f"{folder}/tls.crt" for folder in folders),
        "CODER_TLS_KEY_FILE": ",".join(f"{folder}/tls.key" for folder in folders),
    }


def _volume(secret_name: str) -> str:
    return fit(f"tls-{secret_name}")
