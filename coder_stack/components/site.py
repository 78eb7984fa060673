"""What all objects of one control plane have in common: namespace, labels, ports, their parent.

The selector is here too: it is fixed for the life of a Deployment, so nothing of the config but the
name may get into it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes import meta

from coder_stack.settings import ControlPlane as Settings

__all__ = ["HTTP_PORT", "METRICS_PORT", "TLS_PORT", "Site"]

# What coderd listens on inside the pod; the Service's own ports are the config's.
HTTP_PORT = 8080
TLS_PORT = 8443
METRICS_PORT = 2112


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where the objects of a control plane stand."""

    name: str
    """Beginning of the names of Pulumi's resources."""
    settings: Settings
    namespace: pulumi.Input[str]
    parent: pulumi.Resource

    @property
    def selector(self) -> dict[str, str]:
        """By which Service, Deployment and the rest find the pods."""
        return {
            "app.kubernetes.io/name": "coder",
            "app.kubernetes.io/instance": self.settings.name,
        }

    @property
    def labels(self) -> dict[str, str]:
        """Of every object; those that tools go by are not the config's to change."""
        return {
            **self.settings.labels,
            **self.selector,
            "app.kubernetes.io/component": "coderd",
            "app.kubernetes.io/part-of": "coder",
            "app.kubernetes.io/managed-by": "pulumi",
        }

    @property
    def ports(self) -> dict[str, int]:
        """The container's ports by name."""
        ports = {"http": HTTP_PORT}
        if self.settings.tls:
            ports["https"] = TLS_PORT
        if self.settings.service_monitor:
            ports["metrics"] = METRICS_PORT
        return ports

    def metadata(
        self,
        *,
        annotations: Mapping[str, str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> meta.v1.ObjectMetaArgs:
        """Of an object that is called like the control plane itself."""
        return meta.v1.ObjectMetaArgs(
            name=self.settings.name,
            namespace=self.namespace,
            labels={**(labels or {}), **self.labels},
            annotations=dict(annotations) if annotations else None,
        )

    def pods(self) -> meta.v1.LabelSelectorArgs:
        """The selector in the form that most objects take."""
        return meta.v1.LabelSelectorArgs(match_labels=self.selector)

    def child(self) -> pulumi.ResourceOptions:
        """Options of every object: it goes with the component."""
        return pulumi.ResourceOptions(parent=self.parent)
