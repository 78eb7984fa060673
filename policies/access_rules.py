"""Rules on access: coderd over https, roles without wildcards, namespaces with a NetworkPolicy."""

from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from pulumi_policy import EnforcementLevel, Severity

from coder_stack.descriptors import TYPE_PREFIX
from coder_stack.environment import ACCESS_URL, PRIMARY_URL, URL
from pod_specs import containers, has_pods, place_of, pod_labels, selects, serves
from properties import Property, Resource, Violation
from rule import Case, StackCase, resource_rule, stack_rule, string_list

_PROVISIONERS = frozenset({"coder-stack:index:Provisioner", "coder-stack:index:ProvisionerAccount"})
_URLS = (URL, ACCESS_URL, PRIMARY_URL)
_RBAC = "kubernetes:rbac.authorization.k8s.io/v1:"
# What a build needs to create, watch and delete workspaces (P1).
_WORKSPACES = frozenset({"pods", "persistentvolumeclaims", "apps/deployments"})
_VERBS = frozenset(
    {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
)


def needs_https(url: str) -> bool:
    """Return whether plain http would leave this machine or the cluster."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return True
    return parts.scheme.lower() == "http" and not (_is_loopback(host) or _in_cluster(host))


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def _in_cluster(host: str) -> bool:
    """Return whether it is `service.namespace.svc`, with or without the cluster's domain."""
    parts = host.split(".")
    return len(parts) > 2 and parts[2] == "svc" and parts[3:] in ([], ["cluster", "local"])


def _https(case: Case) -> Iterator[Violation]:
    if case.resource.type.startswith(TYPE_PREFIX):
        with case.known:
            url = case.resource.props.at("connection", "url")
            if needs_https(url.text):
                yield url.violation("use https: requests carry tokens and keys.")
        return
    for container in containers(case.resource, case.known):
        for each in case.known.each(container["env"]):
            with case.known:
                if each["name"].text in _URLS and needs_https(each["value"].text):
                    yield each["value"].violation(f"use https for {each['name'].text}.")


def _wildcards(case: Case) -> Iterator[Violation]:
    for rule in case.known.each(case.resource.props["rules"]):
        for field in ("apiGroups", "resources", "verbs", "nonResourceURLs"):
            for each in case.known.each(rule[field]):
                with case.known:
                    if "*" in each.text:
                        yield each.violation("list what is needed instead of a wildcard.")


def _provisioner_rights(case: Case) -> Iterator[Violation]:
    if _PROVISIONERS.isdisjoint(case.resource.ancestors):
        return
    kind, props = case.resource.kind, case.resource.props
    if kind in ("ClusterRole", "ClusterRoleBinding"):
        yield props["kind"].violation("use a Role in the workspaces' namespaces instead.")
        return
    if kind == "RoleBinding":
        with case.known:
            if props.at("roleRef", "kind").text != "Role":
                yield props.at("roleRef", "kind").violation("bind to a Role in the same namespace.")
        return
    allowed = _WORKSPACES | set(case.options["moreResources"])
    for rule in case.known.each(props["rules"]):
        yield from _excess_rights(case, rule, allowed)


def _excess_rights(case: Case, rule: Property, allowed: frozenset[str]) -> Iterator[Violation]:
    with case.known:
        groups = [each.text for each in rule["apiGroups"].each()]
        for each in case.known.each(rule["resources"]):
            with case.known:
                asked = {f"{group}/{each.text}".lstrip("/") for group in groups}
                if not asked <= allowed:
                    yield each.violation("remove it, or add it to option `moreResources`.")
    for each in case.known.each(rule["verbs"]):
        with case.known:
            if each.text not in _VERBS:
                yield each.violation("remove it: builds do not need this verb.")


def _network_policies(case: StackCase) -> Iterator[Violation]:
    covered = dict[tuple[str, str], list[Resource]]()
    for each in case.resources:
        if each.kind == "NetworkPolicy":
            with case.known:
                covered.setdefault(place_of(each), []).append(each)
    for workload in case.resources:
        if has_pods(workload.type):
            with case.known:
                place = place_of(workload)
                if place not in covered:
                    covered[place] = []  # one message per namespace
                    yield workload.props.at("metadata", "namespace").violation(
                        "add a NetworkPolicy to this namespace."
                    )
                elif covered[place] and _is_open(case, workload, covered[place]):
                    yield pod_labels(workload).violation(
                        "add a NetworkPolicy that selects these pods."
                    )


def _is_open(case: StackCase, workload: Resource, policies: list[Resource]) -> bool:
    """Return whether the pods have ports, and no policy of their namespace selects them."""
    if not serves(workload, case.known):
        return False
    labels = pod_labels(workload).mapping()
    return not any(selects(each.props.at("spec", "podSelector"), labels) for each in policies)


RULES = (
    resource_rule(
        "coderd-over-https",
        "coderd is reached over https, except on this machine or inside the cluster.",
        on=lambda type_: type_.startswith(TYPE_PREFIX) or has_pods(type_),
        check=_https,
        steps="Use an https URL, or coderd's Service (`….svc.cluster.local`, `serviceProxy`).",
        severity=Severity.HIGH,
        level=EnforcementLevel.MANDATORY,
    ),
    resource_rule(
        "no-wildcard-rbac",
        "Roles have no wildcards.",
        on=lambda type_: type_ in (f"{_RBAC}Role", f"{_RBAC}ClusterRole"),
        check=_wildcards,
        steps="Replace `*` in apiGroups, resources, verbs and nonResourceURLs with names.",
        severity=Severity.HIGH,
        level=EnforcementLevel.MANDATORY,
    ),
    resource_rule(
        "provisioner-rights",
        "Provisioners have permissions on workspaces only.",
        on=lambda type_: type_.startswith(_RBAC),
        check=_provisioner_rights,
        steps="Allow only pods, persistentvolumeclaims and deployments, in named namespaces.",
        severity=Severity.HIGH,
        level=EnforcementLevel.MANDATORY,
        options={
            "moreResources": string_list(
                "More resources that templates need, such as `apps/statefulsets`."
            )
        },
    ),
    stack_rule(
        "network-policy",
        "Namespaces with workloads have a NetworkPolicy, and it selects the pods that serve.",
        check=_network_policies,
        steps="Set `networkPolicy` of the control plane and of each proxy, or add your own policy.",
        severity=Severity.LOW,
        level=EnforcementLevel.ADVISORY,
    ),
)
