"""Where the objects of one control plane stand, with the settings that decide their ports."""

from dataclasses import dataclass

from coder_stack.components.parts.workload import Workload
from coder_stack.settings import ControlPlaneSettings

__all__ = ["HTTP_PORT", "METRICS_PORT", "TLS_PORT", "ControlPlaneWorkload"]

# What coderd listens on inside the pod; the Service's own ports are the config's.
HTTP_PORT = 8080
TLS_PORT = 8443
METRICS_PORT = 2112


@dataclass(frozen=True, kw_only=True)
class ControlPlaneWorkload(Workload):
    """The place of a control plane."""

    settings: ControlPlaneSettings

    @property
    def ports(self) -> dict[str, int]:
        """The container's ports by name."""
        ports = {"http": HTTP_PORT}
        if self.settings.tls:
            ports["https"] = TLS_PORT
        if self.settings.service_monitor:
            ports["metrics"] = METRICS_PORT
        return ports
