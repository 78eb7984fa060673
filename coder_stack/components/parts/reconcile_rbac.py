"""Permissions to run `pulumi up` of this stack inside the cluster: no wildcards. Pure.

They cover the kinds of object that the config creates, in the namespaces that it names, and `get`
on Secrets that it refers to. Kubernetes lets an account grant only permissions that it has itself,
so those on workspaces are included.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coder_stack.naming import reconcile_name
from coder_stack.settings import CloudNativePg, Settings

_RBAC = "rbac.authorization.k8s.io"
_READ = ("get", "list", "watch")
_MANAGE = ("create", "delete", *_READ, "patch", "update")
# At least the verbs of workspace_rbac.py.
_WORKSPACES = (*_MANAGE, "deletecollection")
_KEEP = ("get", "patch", "update")


@dataclass(frozen=True)
class Rule:
    """One rule of a Role."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()


def namespace_rules(
    settings: Settings, *, kept_databases: bool = False
) -> Mapping[str, list[Rule]]:
    """Return the rules by namespace: all where our objects are, fewer elsewhere.

    `kept_databases` says that an earlier config declared a database, which must be found again.
    """
    plane = settings.control_plane
    own_name = reconcile_name(plane.name)
    others = [*settings.provisioners, *settings.proxies]
    own = dict.fromkeys([plane.namespace, *(each.namespace or plane.namespace for each in others)])
    workspaces = [
        *plane.workspace_namespaces,
        *(name for each in settings.provisioners for name in each.workspace_namespaces),
    ]
    rules = {namespace: list(_workspace_rules()) for namespace in workspaces}
    rules |= {namespace: [*_workspace_rules(), *_object_rules()] for namespace in own}
    rules[plane.namespace] += _control_plane_rules(settings)
    if plane.cloud_native_pg or kept_databases:
        verbs = _database_verbs(plane.cloud_native_pg)
        rules[plane.namespace].append(Rule("postgresql.cnpg.io", ("clusters",), verbs))
    for namespace in _namespaces_with_budgets(settings):
        rules[namespace].append(Rule("policy", ("poddisruptionbudgets",), _MANAGE))
    for namespace, names in _referenced_secrets(settings).items():
        if namespace not in rules:
            # The Role itself is an object of the stack, too.
            rules[namespace] = [Rule(_RBAC, ("roles", "rolebindings"), _KEEP, (own_name,))]
        if namespace not in own:  # where every Secret may be read
            rules[namespace].append(Rule("", ("secrets",), ("get",), names))
    return rules


def cluster_rules(settings: Settings, cluster_name: str) -> list[Rule]:
    """Return rules to update, but not create or delete, a namespace that the stack owns."""
    if not settings.control_plane.create_namespace:
        return []
    return [
        Rule("", ("namespaces",), _KEEP, (settings.control_plane.namespace,)),
        # The Role itself is an object of the stack, too.
        Rule(_RBAC, ("clusterroles", "clusterrolebindings"), _KEEP, (cluster_name,)),
    ]


def _workspace_rules() -> Iterable[Rule]:
    return (
        Rule("", ("pods", "persistentvolumeclaims"), _WORKSPACES),
        Rule("apps", ("deployments",), _WORKSPACES),
        Rule(_RBAC, ("roles", "rolebindings"), _MANAGE),
    )


def _object_rules() -> Iterable[Rule]:
    return (
        Rule("", ("secrets", "serviceaccounts", "services"), _MANAGE),
        # Pulumi reads these while it waits for a rollout or a Service.
        Rule("", ("endpoints", "events"), _READ),
        Rule("apps", ("replicasets",), _READ),
        Rule("discovery.k8s.io", ("endpointslices",), _READ),
    )


def _namespaces_with_budgets(settings: Settings) -> Iterable[str]:
    plane = settings.control_plane
    return dict.fromkeys(
        each.namespace or plane.namespace
        for each in (plane, *settings.proxies)
        if each.pod_disruption_budget
    )


def _referenced_secrets(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """Return, by namespace, existing Secrets that the program reads."""
    # Add every setting that refers to a Secret in a namespace of its own.
    access = settings.access
    references = (access.token_secret, access.password_secret, settings.license.secret)
    found: dict[str, tuple[str, ...]] = {}
    for each in filter(None, references):
        namespace = each.namespace or settings.control_plane.namespace
        found[namespace] = tuple(sorted({*found.get(namespace, ()), each.name}))
    return found


def _database_verbs(want: CloudNativePg | None) -> tuple[str, ...]:
    """Return the verbs on databases; without one in the config, only to see those kept."""
    if want is None:
        return ("list",)
    return _MANAGE if want.deletion == "delete" else tuple(v for v in _MANAGE if v != "delete")


def _control_plane_rules(settings: Settings) -> Iterable[Rule]:
    plane = settings.control_plane
    yield Rule("", ("configmaps",), _MANAGE)
    yield Rule("batch", ("cronjobs",), _MANAGE)
    options = {
        ("networking.k8s.io", "ingresses"): plane.ingress,
        ("gateway.networking.k8s.io", "httproutes"): plane.http_route,
        ("networking.k8s.io", "networkpolicies"): plane.network_policy,
        ("monitoring.coreos.com", "servicemonitors"): plane.service_monitor,
    }
    for (group, resource), wanted in options.items():
        if wanted is not None:
            yield Rule(group, (resource,), _MANAGE)
    if not settings.direct_url:
        name = f"{plane.scheme}:{plane.name}:{plane.service_port}"
        verbs = ("create", "delete", "get", "patch", "update")
        yield Rule("", ("services/proxy",), verbs, (name,))
