"""Values that both charts have: image, scheduling, pods, ServiceAccount. Pure."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

from coder_stack.start.from_helm.outcomes import (
    Outcome,
    Path,
    is_empty,
    shown,
    translated,
    unmatched,
    unneeded,
)
from coder_stack.start.from_helm.rules import (
    Rule,
    Scope,
    Table,
    each_to,
    each_to_unless,
    items,
    names_to,
    none,
    only,
    refs_to,
    to,
)

CONTAINER_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "runAsGroup": 1000,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
)
"""What containers have here without a setting; a test compares it with components/parts/pod.py."""


def _account_name(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    if value == scope.name:
        yield unneeded(path, "is the ServiceAccount's name here, too")
    else:
        yield unmatched(
            path,
            f"the ServiceAccount is {scope.name} here: change what refers to the old name, such "
            "as a cloud identity",
        )


def _workspace_namespaces(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    """Copy the names; permissions are the same in all namespaces here."""
    if not isinstance(value, list):
        yield unmatched(path, "must be a list")
        return
    taken: list[str] = []
    for index, item in enumerate(items(value)):
        here = (*path, index)
        fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {"name": item}
        name = fields.get("name")
        if not isinstance(name, str) or not name:
            yield unmatched(here, "must have the name of a namespace")
            continue
        if name == scope.namespace or name in taken:
            yield unneeded(here, "the namespace is included already")
        else:
            taken.append(name)
            yield translated(here, scope.place("workspaceNamespaces", list(taken)))
        for key in sorted(fields.keys() - {"name"}):
            usual = scope.value(f"coder.serviceAccount.{key}")
            if fields[key] == usual or is_empty(fields[key]):
                yield unneeded((*here, key), "is the same for all namespaces")
            else:
                what = "permissions are the same in all namespaces: create a Role for others"
                yield unmatched((*here, key), what)


def _extra_rules(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    yield unmatched(
        path, f"create a Role with these rules, and a RoleBinding for ServiceAccount {scope.name}"
    )


def _labels(scope: Scope, path: Path, value: Any) -> Iterator[Outcome]:
    every = shown((*scope.home, "labels"))
    yield unmatched(path, f"{every} has labels for every object; there are none for this one")


IMAGE: Table = {
    "coder.image.repo": to("image.repository"),
    "coder.image.tag": to("image.tag"),
    "coder.image.pullPolicy": to("image.pullPolicy"),
    "coder.image.pullSecrets": names_to("image.pullSecrets"),
}

_SAME: Mapping[str, Rule] = {
    field: to(field)
    for field in (
        "affinity",
        "envFrom",
        "priorityClassName",
        "tolerations",
        "topologySpreadConstraints",
        "volumeMounts",
        "volumes",
    )
}
_SAME_MAPPINGS: Mapping[str, Rule] = {
    field: each_to(field)
    for field in (
        "annotations",
        "labels",
        "nodeSelector",
        "podAnnotations",
        "podLabels",
        "podSecurityContext",
    )
}

WORKLOAD: Table = {
    **IMAGE,
    **{f"coder.{field}": rule for field, rule in (*_SAME.items(), *_SAME_MAPPINGS.items())},
    "coder.replicaCount": to("replicas"),
    "coder.resources.limits": each_to("resources.limits"),
    "coder.resources.requests": each_to("resources.requests"),
    "coder.securityContext": each_to_unless("securityContext", CONTAINER_DEFAULTS),
    "coder.certs.secrets": refs_to("caBundles"),
    "coder.command": only(["/opt/coder"], "the image must have Coder at /opt/coder"),
    "coder.initContainers": none("do in the image, or in another Deployment, what they do"),
    "coder.lifecycle": none("do in the image what the handlers do"),
    "coder.hostAliases": none("use names that DNS resolves"),
    "coder.serviceAccount.annotations": each_to("serviceAccountAnnotations"),
    "coder.serviceAccount.disableCreate": only(False, "the stack always creates a ServiceAccount"),
    "coder.serviceAccount.enableDeployments": to("workspaceDeployments"),
    "coder.serviceAccount.extraRules": _extra_rules,
    "coder.serviceAccount.labels": _labels,
    "coder.serviceAccount.name": _account_name,
    "coder.serviceAccount.workspaceNamespaces": _workspace_namespaces,
    "coder.serviceAccount.workspacePerms": only(
        True, "the stack always grants permissions on workspaces in its namespace"
    ),
    "extraTemplates": none("create these objects with kubectl or another program"),
}
"""Rules that are the same for coderd and for daemons."""
