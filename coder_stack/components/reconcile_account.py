"""The account of the reconcile job in one cluster: a ServiceAccount and its permissions (D4).

In coderd's cluster the job's pod uses it, and ReconcileJob creates it. In every other cluster of
the stack it is a component of its own, for a token that an admin puts into the job's kubeconfig.
Which permissions is decided in parts/reconcile_rbac.py.
"""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes import core, meta, rbac

from coder_stack.components.parts.reconcile_rbac import (
    Rule,
    account_namespace,
    cluster_rules,
    namespace_rules,
)
from coder_stack.components.parts.workload import Labels, Workload
from coder_stack.naming import reconcile_cluster_role_name, reconcile_name
from coder_stack.settings import Settings

_GROUP = "rbac.authorization.k8s.io"


@dataclass(frozen=True, kw_only=True)
class ReconcileAccountArgs:
    """Arguments of a ReconcileAccount."""

    settings: Settings
    """Settings of the whole stack, which determine the permissions."""
    cluster: str
    """Name of the cluster in `clusters`."""


class ReconcileAccount(pulumi.ComponentResource):
    """The account of the reconcile job in another cluster than coderd's."""

    def __init__(
        self, name: str, args: ReconcileAccountArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("coder-stack:index:ReconcileAccount", name, None, opts)
        namespace = account_namespace(args.settings, args.cluster)
        workload = account_workload(name, args.settings, namespace, self)
        account = workload.service_account({}, automount=False)  # no pod of this cluster uses it
        with_permissions(workload, account, args.settings, args.cluster)
        self.register_outputs({})


def account_workload(
    name: str, settings: Settings, namespace: pulumi.Input[str], parent: pulumi.Resource
) -> Workload:
    """Return what the account and all objects beside it share."""
    plane, job = settings.control_plane, settings.reconcile_job
    labels = Labels(
        name="coder-stack",
        instance=plane.name,
        component="reconcile",
        more=job.labels if job else {},
    )
    return Workload(
        name=name,
        object_name=reconcile_name(plane.name),
        namespace=namespace,
        labels=labels,
        parent=parent,
    )


def with_permissions(
    workload: Workload,
    account: core.v1.ServiceAccount,
    settings: Settings,
    cluster: str | None = None,
    *,
    kept_databases: bool = False,
) -> list[pulumi.Resource]:
    """Create the account's Roles in that cluster; None: the one of `kubernetes`."""
    made: list[pulumi.Resource] = []
    own = account_namespace(settings, cluster)
    permissions = namespace_rules(settings, cluster, kept_databases=kept_databases)
    for name, rules in permissions.items():
        there = workload.in_namespace(workload.namespace if name == own else name)
        role = rbac.v1.Role(
            f"{workload.name}-{name}",
            metadata=there.metadata(),
            rules=[_rule(rule) for rule in rules],
            opts=workload.child_options(),
        )
        binding = rbac.v1.RoleBinding(
            f"{workload.name}-{name}",
            metadata=there.metadata(),
            role_ref=_reference("Role", role.metadata.name),
            subjects=[_subject(account)],
            opts=workload.child_options(),
        )
        made += [role, binding]
    return made if cluster else [*made, *_cluster_role(workload, account, settings)]


def _cluster_role(
    workload: Workload, account: core.v1.ServiceAccount, settings: Settings
) -> list[pulumi.Resource]:
    plane = settings.control_plane
    name = reconcile_cluster_role_name(plane.namespace, plane.name)
    rules = cluster_rules(settings, name)
    if not rules:
        return []
    metadata = meta.v1.ObjectMetaArgs(name=name, labels=workload.labels.all)
    role = rbac.v1.ClusterRole(
        f"{workload.name}-cluster",
        metadata=metadata,
        rules=[_rule(rule) for rule in rules],
        opts=workload.child_options(),
    )
    binding = rbac.v1.ClusterRoleBinding(
        f"{workload.name}-cluster",
        metadata=metadata,
        role_ref=_reference("ClusterRole", role.metadata.name),
        subjects=[_subject(account)],
        opts=workload.child_options(),
    )
    return [role, binding]


def _rule(rule: Rule) -> rbac.v1.PolicyRuleArgs:
    return rbac.v1.PolicyRuleArgs(
        api_groups=[rule.group],
        resources=list(rule.resources),
        verbs=list(rule.verbs),
        resource_names=list(rule.names) or None,
    )


def _reference(kind: str, name: pulumi.Input[str]) -> rbac.v1.RoleRefArgs:
    return rbac.v1.RoleRefArgs(api_group=_GROUP, kind=kind, name=name)


def _subject(account: core.v1.ServiceAccount) -> rbac.v1.SubjectArgs:
    return rbac.v1.SubjectArgs(
        kind="ServiceAccount", name=account.metadata.name, namespace=account.metadata.namespace
    )
