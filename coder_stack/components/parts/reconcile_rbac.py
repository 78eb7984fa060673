"""Permissions to run `pulumi up` of this stack from a pod, for one cluster: no wildcards. Pure.

They cover the kinds of object that the config creates in that cluster, in the namespaces that it
names, and `get` on Secrets that it refers to. Kubernetes lets an account grant only permissions
that it has itself, so those on workspaces are included.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coder_stack.naming import reconcile_name
from coder_stack.settings import (
    CloudNativePg,
    ExposedSettings,
    ProvisionerSettings,
    ProxySettings,
    Settings,
)
from coder_stack.settings.references import creates_namespace

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


def account_namespace(settings: Settings, cluster: str | None) -> str:
    """Return the namespace of the account: coderd's, or one of the parts in another cluster."""
    home = settings.control_plane.namespace
    used = {each.namespace or home for each in _parts(settings, cluster)}
    return home if cluster is None or home in used else min(used)


def namespace_rules(
    settings: Settings, cluster: str | None = None, *, kept_databases: bool = False
) -> Mapping[str, list[Rule]]:
    """Return the rules by namespace: all where our objects are, fewer elsewhere.

    `cluster` is one of `clusters`; None: that of `kubernetes`. `kept_databases` says that an
    earlier config declared a database, which must be found again.
    """
    plane, home = settings.control_plane, settings.control_plane.namespace
    deployed = cluster is None and not plane.exists_already
    parts = _parts(settings, cluster)
    own = dict.fromkeys(
        [*([home] if deployed else ()), *(each.namespace or home for each in parts)]
    )
    workspaces = [
        *(plane.workspace_namespaces if deployed else ()),
        *(
            name
            for each in parts
            if isinstance(each, ProvisionerSettings)
            for name in each.workspace_namespaces
        ),
    ]
    rules = {namespace: list(_workspace_rules()) for namespace in workspaces}
    watching = list(_watch_rules()) if _watches(settings) else []
    rules |= {namespace: [*_workspace_rules(), *_object_rules(), *watching] for namespace in own}
    if cluster is None:
        if home not in own:  # beside a coderd of others, with no part of the stack
            rules[home] = [*rules.get(home, ()), *_account_rules(), *watching]
        rules[home] += _job_rules(settings)
        if plane.cloud_native_pg or kept_databases:
            verbs = _database_verbs(plane.cloud_native_pg)
            rules[home].append(Rule("postgresql.cnpg.io", ("clusters",), verbs))
    exposed: list[tuple[str, ExposedSettings]] = [
        *([(home, plane)] if deployed else ()),
        *((each.namespace or home, each) for each in parts if isinstance(each, ProxySettings)),
    ]
    for namespace, part in exposed:
        rules[namespace] += [rule for rule in _exposure_rules(part) if rule not in rules[namespace]]
    for namespace, names in _referenced_secrets(settings).items() if cluster is None else ():
        if namespace not in rules:
            # The Role itself is an object of the stack, too.
            own_name = reconcile_name(plane.name)
            ours = ("roles", "rolebindings")
            rules[namespace] = [Rule(_RBAC, ours, _KEEP, (own_name,))]
            if _watches(settings):
                # Kubernetes allows no list of one name by its labels.
                rules[namespace].append(Rule(_RBAC, ours, ("list", "watch")))
        if namespace not in own and namespace != home:  # where every Secret may be read
            rules[namespace].append(Rule("", ("secrets",), ("get",), names))
    return rules


def cluster_rules(settings: Settings, cluster_name: str) -> list[Rule]:
    """Return rules to update, but not create or delete, a namespace that the stack owns.

    It owns none in other clusters than coderd's.
    """
    if not creates_namespace(settings):
        return []
    return [
        Rule("", ("namespaces",), _KEEP, (settings.control_plane.namespace,)),
        # The Role itself is an object of the stack, too.
        Rule(_RBAC, ("clusterroles", "clusterrolebindings"), _KEEP, (cluster_name,)),
    ]


def _parts(
    settings: Settings, cluster: str | None
) -> Sequence[ProvisionerSettings | ProxySettings]:
    parts = (*settings.provisioners, *settings.proxies)
    return [each for each in parts if each.cluster == cluster]


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


def _watches(settings: Settings) -> bool:
    job = settings.reconcile_job
    return job is not None and job.mode == "watch"


def _watch_rules() -> Iterable[Rule]:
    """Return those to say which watcher runs, and what it has found."""
    yield Rule("coordination.k8s.io", ("leases",), ("create", "delete", "get", "patch", "update"))
    yield Rule("", ("events",), ("create", "patch"))


def _account_rules() -> Iterable[Rule]:
    """Return those for the job's own account, and for the operator's Secret."""
    return (
        Rule(_RBAC, ("roles", "rolebindings"), _MANAGE),
        Rule("", ("secrets", "serviceaccounts"), _MANAGE),
    )


def _job_rules(settings: Settings) -> Iterable[Rule]:
    """Return those for the job itself, and for the way to coderd through the API server."""
    plane = settings.control_plane
    yield Rule("", ("configmaps",), _MANAGE)
    yield Rule("batch", ("cronjobs",), _MANAGE)
    if _watches(settings):
        yield Rule("apps", ("deployments",), _MANAGE)
    if not settings.direct_url:
        name = f"{plane.scheme}:{plane.name}:{plane.service_port}"
        verbs = ("create", "delete", "get", "patch", "update")
        yield Rule("", ("services/proxy",), verbs, (name,))


def _exposure_rules(part: ExposedSettings) -> Iterable[Rule]:
    options = {
        ("networking.k8s.io", "ingresses"): part.ingress,
        ("gateway.networking.k8s.io", "httproutes"): part.http_route,
        ("networking.k8s.io", "networkpolicies"): part.network_policy,
        ("monitoring.coreos.com", "servicemonitors"): part.service_monitor,
        ("policy", "poddisruptionbudgets"): part.pod_disruption_budget,
    }
    for (group, resource), wanted in options.items():
        if wanted is not None:
            yield Rule(group, (resource,), _MANAGE)


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
