"""Names of Kubernetes objects: what makes a valid one, and the names that this program gives. Pure.

Rules for names inside coderd are in coderd/names.py.
"""

import hashlib

LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
"""Pattern of a DNS label (RFC 1123), the strictest form that any of our objects needs."""
LABEL_RULE = "1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or digit"
MAX_LABEL = 63
CODERD_NAME = "coder"
"""Default name of coderd's Deployment and Service."""
CODERD_NAMESPACE = "coder"
"""Default namespace of coderd."""
DATABASE_COMPONENT = "database"
"""Value of the label `app.kubernetes.io/component` of a database."""
DATABASE_NAME = r"[a-z](?:[-a-z0-9]*[a-z0-9])?"
"""Pattern of a CloudNativePG Cluster's name: its Services need a DNS label of RFC 1035."""
MAX_DATABASE_NAME = 50
DATABASE_NAME_RULE = (
    "1 to 50 of a-z, 0-9 and '-', beginning with a letter and ending with a letter or digit"
)
OWNER = "coder-stack/resource"
"""Annotation of every object that a stack creates; see components/parts/ownership.py."""
_HASH = 8


def fit(name: str, limit: int = MAX_LABEL) -> str:
    """Return the name itself if it is short enough, else cut, with a hash to keep it unique."""
    if len(name) <= limit:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH]
    return f"{name[: limit - _HASH - 1].rstrip('-')}-{digest}"


def at_cluster(resource: str, cluster: str | None) -> str:
    """Name Pulumi's resource of an object in that cluster; None: the cluster of `kubernetes`.

    With one name in both, an object that moves would be looked for in its new cluster and taken for
    deleted, while the old one runs on. No part's name and no cluster's has an `@`.
    """
    return f"{resource}@{cluster}" if cluster else resource


def operator_secret_name(coderd_name: str, owner: str = "") -> str:
    """Name the Secret in coderd's namespace that holds the operator's token.

    `owner` tells apart those who share a coderd, or a namespace for the Secrets of several.
    """
    return fit(f"{coderd_name}-operator-{owner}" if owner else f"{coderd_name}-operator")


def database_name(coderd_name: str) -> str:
    """Name the CloudNativePG Cluster with coderd's database, unless the config does."""
    return fit(f"{coderd_name}-database", MAX_DATABASE_NAME)


def database_secret_name(database: str) -> str:
    """Name the Secret with the application's credentials, as CloudNativePG does."""
    return f"{database}-app"


def workspace_role_name(coderd_name: str) -> str:
    """Name the Role and RoleBinding that let coderd manage workspaces."""
    return fit(f"{coderd_name}-workspace-perms")


def provisioner_name(provisioner: str) -> str:
    """Name the Deployment of a provisioner, and its ServiceAccount and Roles if it shares none."""
    return fit(f"{provisioner}-provisioner")


def provisioner_secret_name(provisioner: str) -> str:
    """Name the Secret with a provisioner's key, unless the config does."""
    return fit(f"{provisioner}-provisioner-key")


def proxy_name(proxy: str) -> str:
    """Name the Deployment, ServiceAccount and Service of a workspace proxy."""
    return fit(f"{proxy}-proxy")


def proxy_secret_name(proxy: str) -> str:
    """Name the Secret with a proxy's token, unless the config does."""
    return fit(f"{proxy}-proxy-token")


def reconcile_name(coderd_name: str) -> str:
    """Name the CronJob that reconciles, and its objects in each namespace."""
    return fit(f"{coderd_name}-reconcile")


def reconcile_cluster_role_name(namespace: str, coderd_name: str) -> str:
    """Name the CronJob's ClusterRole; the namespace tells stacks of one cluster apart."""
    return fit(f"{namespace}-{coderd_name}-reconcile")


def stack_hash(project: str, stack: str, part: str = "") -> str:
    """Hash a stack, or one part of it, to tell it from others in names that they share."""
    text = f"{project}/{stack}/{part}" if part else f"{project}/{stack}"
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH]
