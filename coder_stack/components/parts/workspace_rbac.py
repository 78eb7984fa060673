"""What coderd or a provisioner may do with workspaces: a Role and its binding in each namespace.

A template's pods and volumes are made with the rights of whoever runs its build. Leaves alone: the
account, which is the caller's, and the namespaces, which exist already.
"""

from collections.abc import Mapping

import pulumi
from pulumi_kubernetes import core, meta, rbac

__all__ = ["workspace_rbac"]

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
    """Every Role and RoleBinding, so that pods can wait for them.

    `namespaces` maps the name that a namespace has in the config, which is part of the resources'
    names, to the namespace itself. `object_name` is what the objects are called in Kubernetes.
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
    for place, namespace in namespaces.items():
        metadata = meta.v1.ObjectMetaArgs(
            name=object_name, namespace=namespace, labels=dict(labels)
        )
        role = rbac.v1.Role(
            f"{name}-workspaces-{place}",
            metadata=metadata,
            rules=rules,
            opts=pulumi.ResourceOptions(parent=parent),
        )
        binding = rbac.v1.RoleBinding(
            f"{name}-workspaces-{place}",
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
