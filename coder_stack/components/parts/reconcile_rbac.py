"""What an account may do that runs `pulumi up` of this stack inside the cluster: no wildcards.

Pure. Only the kinds of object that the config makes, only in the namespaces that it names; where it
only names a Secret, that one may be read. A Role can be handed out only by somebody who has its
rights, so those on workspaces are here as well.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coder_stack.coderd.connection import direct_url
from coder_stack.naming import reconcile_name
from coder_stack.settings import Settings

__all__ = ["Rule", "cluster_rules", "namespace_rules"]

_RBAC = "rbac.authorization.k8s.io"
_READ = ("get", "list", "watch")
_MANAGE = ("create", "delete", *_READ, "patch", "update")
# As components/workspace_rights.py hands out.
_WORKSPACES = (*_MANAGE, "deletecollection")
_KEEP = ("get", "patch", "update")


@dataclass(frozen=True)
class Rule:
    """One rule of a Role."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()


def namespace_rules(settings: Settings) -> Mapping[str, list[Rule]]:
    """By namespace: everything where our objects are, less where only workspaces or Secrets are."""
    plane = settings.control_plane
    own_name = reconcile_name(plane.name)
    fleet = [*settings.provisioners, *settings.proxies]
    homes = dict.fromkeys([plane.namespace, *(each.namespace or plane.namespace for each in fleet)])
    workspaces = [
        *plane.workspace_namespaces,
        *(name for each in settings.provisioners for name in each.workspace_namespaces),
    ]
    rules = {namespace: list(_workspace_rules()) for namespace in workspaces}
    rules |= {namespace: [*_workspace_rules(), *_object_rules()] for namespace in homes}
    rules[plane.namespace] += _control_plane_rules(settings)
    for namespace in _with_budgets(settings):
        rules[namespace].append(Rule("policy", ("poddisruptionbudgets",), _MANAGE))
    for namespace, names in _borrowed_secrets(settings).items():
        if namespace not in rules:
            # These very rights are objects of the stack, too.
            rules[namespace] = [Rule(_RBAC, ("roles", "rolebindings"), _KEEP, (own_name,))]
        if namespace not in homes:  # there every Secret may be read
            rules[namespace].append(Rule("", ("secrets",), ("get",), names))
    return rules


def cluster_rules(settings: Settings, cluster_name: str) -> list[Rule]:
    """Only for a namespace that belongs to the stack: to keep it, not to make or delete it."""
    if not settings.control_plane.create_namespace:
        return []
    return [
        Rule("", ("namespaces",), _KEEP, (settings.control_plane.namespace,)),
        # These very rights are objects of the stack, too.
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
        # What Pulumi looks at while it waits for a rollout or a Service.
        Rule("", ("endpoints", "events"), _READ),
        Rule("apps", ("replicasets",), _READ),
        Rule("discovery.k8s.io", ("endpointslices",), _READ),
    )


def _with_budgets(settings: Settings) -> Iterable[str]:
    plane = settings.control_plane
    return dict.fromkeys(
        each.namespace or plane.namespace
        for each in (plane, *settings.proxies)
        if each.pod_disruption_budget
    )


def _borrowed_secrets(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """By namespace: the Secrets that the program itself reads and somebody else makes."""
    # Whatever names a Secret with a namespace of its own belongs here.
    access = settings.access
    references = (access.token_secret, access.password_secret, settings.license.secret)
    home = settings.control_plane.namespace
    found: dict[str, tuple[str, ...]] = {}
    for each in filter(None, references):
        namespace = each.namespace or home
        found[namespace] = tuple(sorted({*found.get(namespace, ()), each.name}))
    return found


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
    access = settings.access
    if not direct_url(access.url, plane.access_url, through_api_server=access.through_api_server):
        name = f"{plane.scheme}:{plane.name}:{plane.service_port}"
        verbs = ("create", "delete", "get", "patch", "update")
        yield Rule("", ("services/proxy",), verbs, (name,))
