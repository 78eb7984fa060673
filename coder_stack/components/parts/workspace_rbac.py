"""Permissions of coderd or a provisioner on workspaces: a Role and RoleBinding in each namespace.

Builds of templates create pods and volumes with them. ServiceAccount and namespaces are given.
"""

from collections.abc import Mapping

import pulumi
from pulumi_kubernetes import core, meta, rbac

# What a template needs to create, watch and remove workspaces; never a wildcard.
_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


def workspace_rbac(
    name: str,
    *,
    object_name: str,
    namespaces: Mapping[str, pulumi.Input[str]],
    account: core.v1.ServiceAccount,
    deployments: bool,
    labels: Mapping[str, str],
    parent: pulumi.Resource,
) -> list[pulumi.Resource]:
    """Create and return every Role and RoleBinding, so that pods can wait for them.

    `namespaces` maps a suffix for the resources' names to the namespace. `object_name` is the name
    of the Kubernetes objects.
    """
    rules = [
        rbac.v1.PolicyRuleArgs(
            api_groups=[""], resources=["pods", "persistentvolumeclaims"], verbs=_VERBS
        )
    ]
    if deployments:
        rules.append(
            rbac.v1.PolicyRuleArgs(api_groups=["apps"], resources=["deployments"], verbs=_VERBS)
        )
    made: list[pulumi.Resource] = []
    for suffix, namespace in namespaces.items():
        metadata = meta.v1.ObjectMetaArgs(
            name=object_name, namespace=namespace, labels=dict(labels)
        )
        role = rbac.v1.Role(
            f"{name}-workspaces-{suffix}",
            metadata=metadata,
            rules=rules,
            opts=pulumi.ResourceOptions(parent=parent),
        )
        binding = rbac.v1.RoleBinding(
            f"{name}-workspaces-{suffix}",
            metadata=metadata,
            role_ref=rbac.v1.RoleRefArgs(
                api_group="rbac.authorization.k8s.io", kind="Role", name=role.metadata.name
            ),
            subjects=[
                rbac.v1.SubjectArgs(
                    kind="ServiceAccount",
                    name=account.metadata.name,
                    namespace=account.metadata.namespace,
                )
            ],
            opts=pulumi.ResourceOptions(parent=parent),
        )
        made += [role, binding]
    return made
