"""The whole stack: one provider for the cluster, the components on it, and what is exported.

Wires and nothing else; what an object looks like is decided in components/.
"""

import pulumi
import pulumi_kubernetes as kubernetes

from coder_stack.components.control_plane import ControlPlane, ControlPlaneArgs
from coder_stack.settings import Settings


class CoderStack(pulumi.ComponentResource):
    """Everything that one stack config describes."""

    control_plane: ControlPlane

    def __init__(
        self, name: str, settings: Settings, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:CoderStack", name, None, opts)
        cluster = kubernetes.Provider(
            f"{name}-cluster",
            kubeconfig=settings.kubernetes.kubeconfig,
            context=settings.kubernetes.context,
            enable_server_side_apply=True,
            # What the program sets is the program's: without this, a field that somebody else has
            # taken over ends preview and up in a conflict instead of being named and repaired.
            enable_patch_force=True,
            # Else the plugin deletes and recreates a Secret whose data change: a gap in a rotation.
            enable_secret_mutable=True,
            enable_config_map_mutable=True,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.control_plane = ControlPlane(
            f"{name}-control-plane",
            ControlPlaneArgs(settings=settings.control_plane),
            pulumi.ResourceOptions(parent=self, providers=[cluster]),
        )
        self.register_outputs({})
