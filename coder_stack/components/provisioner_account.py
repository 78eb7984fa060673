"""The ServiceAccount of provisioner pods, with its permissions on workspaces (P1).

A provisioner has one of its own, as part of its component. Those that name the same `account` share
one, which is a component beside them: it costs the state and each update less, and it stays when
one of them goes.
"""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes import core

from coder_stack.components.parts.workload import Labels, Workload
from coder_stack.components.parts.workspace_rbac import workspace_rbac
from coder_stack.settings import ProvisionerSettings


@dataclass(frozen=True)
class Account:
    """An account that pods can use once its permissions exist."""

    account: core.v1.ServiceAccount
    permissions: list[pulumi.Resource]


@dataclass(frozen=True, kw_only=True)
class ProvisionerAccountArgs:
    """Arguments of a ProvisionerAccount."""

    settings: ProvisionerSettings
    """Of one provisioner that uses it; the others have the same fields of the account."""
    name: str
    """Name of the Kubernetes objects."""
    namespace: pulumi.Input[str]
    """Default namespace: coderd's."""


class ProvisionerAccount(pulumi.ComponentResource):
    """An account that several provisioners of one cluster share."""

    account: Account

    def __init__(
        self, name: str, args: ProvisionerAccountArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:ProvisionerAccount", name, None, opts)
        workload = Workload(
            name=name,
            object_name=args.name,
            namespace=args.settings.namespace or args.namespace,
            labels=provisioner_labels(args.name),
            parent=self,
        )
        self.account = account_of(workload, args.settings)
        self.register_outputs({})


def provisioner_labels(instance: str, settings: ProvisionerSettings | None = None) -> Labels:
    """Return the labels of a provisioner's objects, or of the account that several share."""
    return Labels(
        name="coder-provisioner",
        instance=instance,
        component="provisioner",
        more=settings.labels if settings else {},
    )


def account_of(workload: Workload, settings: ProvisionerSettings) -> Account:
    """Create account and permissions below the workload's component."""
    account = workload.service_account(settings.service_account_annotations)
    # The default namespace may be unknown in a preview, and no namespace can be named "own_".
    suffix = settings.namespace or "own_"
    permissions = workspace_rbac(
        workload.name,
        object_name=workload.object_name,
        namespaces={
            **{each: each for each in settings.workspace_namespaces},
            suffix: workload.namespace,
        },
        account=account,
        deployments=settings.workspace_deployments,
        labels=workload.labels.all,
        parent=workload.parent,
    )
    return Account(account, permissions)
