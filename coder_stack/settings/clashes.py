"""Checks across the parts of a config: names, namespaces, Secrets.

They run on a draft without the invalid fields, so that all mistakes are reported at once (B1).
Checks within one part are in that part.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from coder_stack.naming import provisioner_name
from coder_stack.settings.access import AccessSettings, LicenseSettings
from coder_stack.settings.control_plane import ControlPlaneSettings
from coder_stack.settings.exposure import ExposedSettings
from coder_stack.settings.kubernetes import KubernetesSettings
from coder_stack.settings.objects import claims, referenced_secrets
from coder_stack.settings.part import Clash, Part
from coder_stack.settings.provisioner import ProvisionerSettings
from coder_stack.settings.reconcile_job import ReconcileJobSettings
from coder_stack.settings.workload import WorkloadSettings
from coder_stack.settings.workspace_proxy import ProxySettings

P = TypeVar("P", bound=Part)
# Stands for coderd's namespace while that is invalid; no namespace can have this name.
_CODERDS = "(coderd's)"
_CLUSTERS = "clusters."
_JOB = "reconcileJob"
_DEFAULT_ACCOUNT = "default"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The valid parts by path, e.g. `provisioners[1]`."""

    parts: Mapping[str, Part]
    invalid: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """Fields that were left out of a part because their values are invalid."""
    unusable: Collection[str] = ()
    """Paths of parts of which nothing is valid."""

    def all(self, kind: type[P]) -> dict[str, P]:
        """Return the parts of one type."""
        return {path: part for path, part in self.parts.items() if isinstance(part, kind)}

    def namespace_of(self, part: WorkloadSettings) -> str:
        """Return the namespace of the part's objects."""
        plane = self.parts.get("controlPlane")
        known = isinstance(plane, ControlPlaneSettings) and not self.is_invalid(
            "controlPlane", "namespace"
        )
        default = plane.namespace if isinstance(plane, ControlPlaneSettings) and known else _CODERDS
        own = part.namespace if isinstance(part, ProvisionerSettings | ProxySettings) else None
        return own or default

    def cluster_of(self, part: WorkloadSettings) -> str:
        """Return the name of the cluster of the part's objects; empty: that of `kubernetes`."""
        own = part.cluster if isinstance(part, ProvisionerSettings | ProxySettings) else None
        return own or ""

    @property
    def clusters(self) -> set[str]:
        """The names of the clusters that the config declares, valid or not."""
        paths = (*self.parts, *self.unusable)
        return {path.removeprefix(_CLUSTERS) for path in paths if path.startswith(_CLUSTERS)}

    def is_invalid(self, path: str, name: str) -> bool:
        """Tell whether that field was left out."""
        return name in self.invalid.get(path, ())


def clashes(draft: Draft, secrets: Collection[str] = ()) -> Iterator[Clash]:
    """Return all clashes with their full paths. `secrets` are the keys of secret config."""
    for path, part in draft.parts.items():
        yield from _within(path, part, draft.invalid.get(path, ()))
    yield from _clusters(draft)
    yield from _kubeconfigs_of_job(draft)
    yield from _way_to_coderd(draft)
    yield from _names(draft)
    yield from _key_names(draft)
    yield from _objects(draft)
    yield from _accounts(draft)
    yield from _hosts(draft)
    yield from _workspace_namespaces(draft)
    yield from _secret_config(draft, secrets)


def _within(path: str, part: Part, invalid: Collection[str]) -> Iterator[Clash]:
    """Return the clashes within the part, and within each part in it."""
    for clash in part.clashes(invalid):
        yield Clash(f"{path}.{clash.path}", clash.message)
    for name, info in type(part).model_fields.items():
        inner = getattr(part, name)
        if isinstance(inner, Part):
            yield from _within(f"{path}.{info.alias}", inner, ())


def _repeated(names: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Return later path, name and first path of names that are used twice, in any case."""
    first: dict[str, str] = {}
    for path, name in names:
        earlier = first.setdefault(name.lower(), path)
        if earlier != path:
            yield path, name, earlier


def _names(draft: Draft) -> Iterator[Clash]:
    """Names are unique in each list of the config."""
    lists: dict[str, list[tuple[str, str]]] = {}
    for path, part in draft.parts.items():
        if "[" in path:
            named = (f"{path}.name", str(getattr(part, "name", "")))
            lists.setdefault(path.partition("[")[0], []).append(named)
    for used in lists.values():
        for path, name, earlier in _repeated(used):
            yield Clash(path, f'must be unique: {earlier} already uses "{name}"')


def _key_names(draft: Draft) -> Iterator[Clash]:
    """Check that key names are unique in an organization; coderd stores them in lower case."""
    names: dict[str, list[tuple[str, str]]] = {}
    for path, part in draft.all(ProvisionerSettings).items():
        if not draft.is_invalid(path, "key") and not draft.is_invalid(path, "organization"):
            field_path = f"{path}.key.name" if part.key.name else f"{path}.name"
            found = (field_path, part.key.name or part.name)
            names.setdefault(part.organization.lower(), []).append(found)
    for used in names.values():
        for path, name, earlier in _repeated(used):
            # Equal names of provisioners are already reported.
            if ".key." in path + earlier:
                yield Clash(
                    path,
                    f'must be unique in its organization: {earlier} already uses "{name}"',
                )


def _clusters(draft: Draft) -> Iterator[Clash]:
    """Check that each cluster is another one and is used, and that each name has a cluster."""
    declared = draft.all(KubernetesSettings)
    first: dict[tuple[str | None, str | None], str] = {}
    for path, part in declared.items():
        earlier = first.setdefault((part.kubeconfig, part.context), path)
        if earlier != path and not draft.invalid.get(path) and not draft.invalid.get(earlier):
            yield Clash(
                path, f"is the same cluster as {earlier}: set another kubeconfig or context"
            )
    known, used = draft.clusters, set[str]()
    for path, part in draft.all(WorkloadSettings).items():
        if name := draft.cluster_of(part):
            used.add(name)
            yield from _of_cluster(draft, path, part, name, known)
    # A part with mistakes of its own, or with a misspelt name, may be the one that uses it.
    unclear = any("cluster" in fields for fields in draft.invalid.values())
    unclear |= any(path != _JOB for path in draft.unusable)
    if not (unclear or used - known):
        for name in sorted(known - used):
            yield Clash(
                f"{_CLUSTERS}{name}",
                "is never used: name it in provisioners[].cluster or proxies[].cluster, or remove "
                "it",
            )


def _of_cluster(
    draft: Draft, path: str, part: WorkloadSettings, name: str, known: Collection[str]
) -> Iterator[Clash]:
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        yield Clash(f"{path}.cluster", f"clusters has no {name}; it has: {listed}")
    plane = draft.parts.get("controlPlane")
    field = "url" if isinstance(part, ProvisionerSettings) else "primaryUrl"
    given = (
        part.url if isinstance(part, ProvisionerSettings) else getattr(part, "primary_url", None)
    )
    if given or draft.is_invalid(path, field) or draft.is_invalid("controlPlane", "accessUrl"):
        return
    if isinstance(plane, ControlPlaneSettings) and not plane.access_url and not plane.from_stack:
        why = (
            f"needs controlPlane.accessUrl, or {field} here: coderd's Service is in another cluster"
        )
        yield Clash(f"{path}.cluster", why)


def _kubeconfigs_of_job(draft: Draft) -> Iterator[Clash]:
    """Check that the job has one file for each other cluster in use, and can tell them apart."""
    job, known = draft.parts.get(_JOB), draft.clusters
    if not isinstance(job, ReconcileJobSettings) or draft.is_invalid(_JOB, "kubeconfigs"):
        return
    for name in sorted(job.kubeconfigs.keys() - known):
        listed = ", ".join(sorted(known)) or "none"
        yield Clash(f"{_JOB}.kubeconfigs.{name}", f"clusters has no {name}; it has: {listed}")
    first: dict[str, str] = {}
    used = {draft.cluster_of(part) for part in draft.all(WorkloadSettings).values()}
    for name in sorted(used & known):
        field = f"{_CLUSTERS}{name}"
        cluster = draft.parts.get(field)
        path = cluster.kubeconfig if isinstance(cluster, KubernetesSettings) else None
        wrong = {"context", "kubeconfig"} & set(draft.invalid.get(field, ()))
        if isinstance(cluster, KubernetesSettings) and not (path or cluster.context or wrong):
            why = "reconcileJob needs this or kubeconfig: its current context is that of its pod"
            yield Clash(f"{field}.context", why)
        if name not in job.kubeconfigs:
            why = f"cluster {name} needs one: name an existing Secret and its key"
            yield Clash(f"{_JOB}.kubeconfigs", why)
            continue
        earlier = first.setdefault(path, name) if path else name
        if job.kubeconfigs[earlier] != job.kubeconfigs[name]:
            why = f"{path} is the file of {_CLUSTERS}{earlier}, too: name the same Secret and key"
            yield Clash(f"{_JOB}.kubeconfigs.{name}", why)


def _way_to_coderd(draft: Draft) -> Iterator[Clash]:
    """Check that Pulumi can reach a coderd that the stack does not deploy."""
    plane, access = draft.parts.get("controlPlane"), draft.parts.get("access")
    if not isinstance(plane, ControlPlaneSettings) or not isinstance(access, AccessSettings):
        return
    fields = {"url", "throughApiServer"} & set(draft.invalid.get("access", ()))
    if plane.deploy or fields or draft.is_invalid("controlPlane", "accessUrl"):
        return
    if not (plane.access_url or access.url or access.through_api_server or plane.from_stack):
        yield Clash(
            "controlPlane.deploy",
            "false needs a way to coderd: set accessUrl, or access.throughApiServer: true and name "
            "and namespace of its Service",
        )


def _objects(draft: Draft) -> Iterator[Clash]:
    """Check that no object is created by two parts, or by a part and somebody else."""
    workloads = draft.all(WorkloadSettings)
    referenced = {
        (draft.cluster_of(part), draft.namespace_of(part), secret): f"{path}.{name}"
        for path, part in workloads.items()
        for name, secret in referenced_secrets(part)
    }
    owners: dict[tuple[str, str, str, str], tuple[str, WorkloadSettings]] = {}
    reported: set[tuple[str, str]] = set()
    for path, part in workloads.items():
        if draft.is_invalid(path, "namespace") or draft.is_invalid(path, "cluster"):
            continue
        cluster = draft.cluster_of(part)
        for claim in claims(part, draft.namespace_of(part), draft.invalid.get(path, ())):
            named = f"{claim.kind} {claim.name} in namespace {claim.namespace}"
            named += f" of cluster {cluster}" if cluster else ""
            owner, other = owners.setdefault((cluster, *claim[:3]), (path, part))
            # Equal names are already reported, and one object for each pair of parts is enough.
            known = owner == path or (path, owner) in reported or _same_name(part, other)
            if not known and not (claim.field == "account" and _share_account(part, other)):
                reported.add((path, owner))
                yield Clash(f"{path}.{claim.field}", f"{named} already belongs to {owner}")
            user = referenced.get((cluster, claim.namespace, claim.name))
            if claim.kind == "Secret" and user:
                yield Clash(f"{path}.{claim.field}", f"{named} is used by {user}: use another")


def _hosts(draft: Draft) -> Iterator[Clash]:
    """Check that no host is routed to two parts; `*--a.x.test` and `*--b.x.test` are one host."""
    owners: dict[str, str] = {}
    for path, part in draft.all(ExposedSettings).items():
        for name, host in part.routed_hosts.items():
            owner = owners.setdefault(host, path)
            if owner != path:
                yield Clash(f"{path}.{name}", f"host {host} is already routed to {owner}")


def _same_name(one: WorkloadSettings, other: WorkloadSettings) -> bool:
    if isinstance(one, ProvisionerSettings) and isinstance(other, ProvisionerSettings):
        return one.name == other.name
    if isinstance(one, ProxySettings) and isinstance(other, ProxySettings):
        return one.name == other.name
    return False


def _share_account(one: WorkloadSettings, other: WorkloadSettings) -> bool:
    if isinstance(one, ProvisionerSettings) and isinstance(other, ProvisionerSettings):
        return one.account == other.account
    return False


def _accounts(draft: Draft) -> Iterator[Clash]:
    """Check that provisioners that share an account in a cluster ask for the same new one."""
    first: dict[tuple[str, str], tuple[str, ProvisionerSettings]] = {}
    provisioners = draft.all(ProvisionerSettings)
    # Those without `account` have theirs under these names, and are found with other objects.
    own = {provisioner_name(each.name): path for path, each in provisioners.items() if each.account}
    for path, part in provisioners.items():
        if not part.account:
            continue
        if part.account == _DEFAULT_ACCOUNT:
            yield Clash(f"{path}.account", "every namespace has one of this name: use another")
        elif part.account in own:
            # The engine makes the new one before it deletes the old one, and back again.
            why = f"is what {own[part.account]} has without this field: use another name"
            yield Clash(f"{path}.account", why)
        earlier, other = first.setdefault((draft.cluster_of(part), part.account), (path, part))
        theirs = _account_fields(draft, other)
        for alias, value in _account_fields(draft, part).items():
            unclear = draft.is_invalid(path, alias) or draft.is_invalid(earlier, alias)
            if not unclear and value != theirs[alias]:
                why = f"must be as in {earlier}: both use account {part.account}"
                yield Clash(f"{path}.{alias}", why)


def _account_fields(draft: Draft, part: ProvisionerSettings) -> dict[str, object]:
    """Return what makes the account of a provisioner, by field."""
    return {
        "namespace": draft.namespace_of(part),
        "workspaceNamespaces": set(part.workspace_namespaces),
        "workspaceDeployments": part.workspace_deployments,
        "serviceAccountAnnotations": part.service_account_annotations,
    }


def _workspace_namespaces(draft: Draft) -> Iterator[Clash]:
    """Check that no workspace namespace is listed twice or is the part's own."""
    for path, part in draft.all(WorkloadSettings).items():
        if not isinstance(part, ControlPlaneSettings | ProvisionerSettings):
            continue
        own, seen = draft.namespace_of(part), set[str]()
        for index, name in enumerate(part.workspace_namespaces):
            if name == own or name in seen:
                why = "is always included" if name == own else "is a duplicate"
                yield Clash(f"{path}.workspaceNamespaces[{index}]", f"{name} {why}: remove it")
            seen.add(name)


def _secret_config(draft: Draft, secrets: Collection[str]) -> Iterator[Clash]:
    """Check fields against the secrets in the stack's config."""
    access, license_ = draft.parts.get("access"), draft.parts.get("license")
    given = isinstance(access, AccessSettings) and access.token_secret is not None
    if given and "token" in secrets:
        yield Clash("access.tokenSecret", "set this or the secret config token, not both")
    if isinstance(license_, LicenseSettings) and license_.secret and "licenseJwt" in secrets:
        yield Clash("license.secret", "set this or the secret config licenseJwt, not both")
    in_secret = isinstance(access, AccessSettings) and access.password_secret is not None
    if in_secret and "token" in secrets:
        yield Clash("access.passwordSecret", "is unused with token: remove one of them")
    if "initialPassword" in secrets and (given or "token" in secrets):
        other = "access.tokenSecret" if given else "token"
        yield Clash("initialPassword", f"is unused with {other}: remove one of them")
    if "initialPassword" in secrets and in_secret:
        why = "set this or the secret config initialPassword, not both"
        yield Clash("access.passwordSecret", why)
