"""The components of a stack, one ComponentResource a file; other programs may use them, too."""

from coder_stack.components.control_plane import ControlPlane, ControlPlaneArgs
from coder_stack.components.operator import Operator, OperatorArgs
from coder_stack.components.parts.operator_handle import OperatorHandle
from coder_stack.components.provisioner import Provisioner, ProvisionerArgs
from coder_stack.components.reconcile_account import ReconcileAccount, ReconcileAccountArgs
from coder_stack.components.reconcile_job import ReconcileJob, ReconcileJobArgs
from coder_stack.components.workspace_proxy import WorkspaceProxy, WorkspaceProxyArgs

__all__ = [
    "ControlPlane",
    "ControlPlaneArgs",
    "Operator",
    "OperatorArgs",
    "OperatorHandle",
    "Provisioner",
    "ProvisionerArgs",
    "ReconcileAccount",
    "ReconcileAccountArgs",
    "ReconcileJob",
    "ReconcileJobArgs",
    "WorkspaceProxy",
    "WorkspaceProxyArgs",
]
