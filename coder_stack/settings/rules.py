"""What must fit together across the parts of a config: names, namespaces, Secrets.

Asked of a draft, which may have gaps where something is wrong by itself; so these mistakes are
told in the same breath as those (B1). What concerns one part alone is said by that part.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from coder_stack.settings.access import AccessSettings, LicenseSettings
from coder_stack.settings.control_plane import ControlPlaneSettings
from coder_stack.settings.fleet import ProvisionerSettings, ProxySettings
from coder_stack.settings.objects import borrowed_secrets, claims
from coder_stack.settings.part import Clash, Part
from coder_stack.settings.workload import WorkloadSettings

__all__ = ["Draft", "clashes"]

P = TypeVar("P", bound=Part)
# Stands for coderd's namespace while that is wrong; no namespace is called so.
_CODERDS = "(coderd's)"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The parts that are right by themselves, by path, e.g. `provisioners[1]`."""

    parts: Mapping[str, Part]
    unsure: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """Fields of such a part that were left out of it, because what was given is wrong."""

    def all(self, kind: type[P]) -> dict[str, P]:
        """The parts of one kind."""
        return {path: part for path, part in self.parts.items() if isinstance(part, kind)}

    def namespace_of(self, part: WorkloadSettings) -> str:
        """Where its objects are."""
        plane = self.parts.get("controlPlane")
        known = isinstance(plane, ControlPlaneSettings) and not self.is_unsure(
            "controlPlane", "namespace"
        )
        default = plane.namespace if isinstance(plane, ControlPlaneSettings) and known else _CODERDS
        own = part.namespace if isinstance(part, ProvisionerSettings | ProxySettings) else None
        return own or default

    def is_unsure(self, path: str, name: str) -> bool:
        """Whether that field was left out."""
        return name in self.unsure.get(path, ())


def clashes(draft: Draft, secrets: Collection[str] = ()) -> Iterator[Clash]:
    """Everything that does not fit, each with its whole path. `secrets`: secret config keys."""
    for path, part in draft.parts.items():
        yield from _inside(path, part, draft.unsure.get(path, ()))
    for kind in (ProvisionerSettings, ProxySettings):
        yield from _names(draft, kind)
    yield from _key_names(draft)
    yield from _objects(draft)
    yield from _workspace_namespaces(draft)
    yield from _beside_secrets(draft, secrets)


def _inside(path: str, part: Part, unsure: Collection[str]) -> Iterator[Clash]:
    """What the part, and each part within it, says about itself."""
    for clash in part.clashes(unsure):
        yield Clash(f"{path}.{clash.path}", clash.says)
    for name, info in type(part).model_fields.items():
        inner = getattr(part, name)
        if isinstance(inner, Part):
            yield from _inside(f"{path}.{info.alias}", inner, ())


def _repeated(names: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Each further place that uses a name, the name, and the place that has it. Case is nothing."""
    first: dict[str, str] = {}
    for path, name in names:
        earlier = first.setdefault(name.lower(), path)
        if earlier != path:
            yield path, name, earlier


def _names(draft: Draft, kind: type[ProvisionerSettings] | type[ProxySettings]) -> Iterator[Clash]:
    named = ((f"{path}.name", part.name) for path, part in draft.all(kind).items())
    for path, name, earlier in _repeated(named):
        yield Clash(path, f'must be unique: {earlier} already uses "{name}"')


def _key_names(draft: Draft) -> Iterator[Clash]:
    """Coderd has each name once in an organization, in lower case."""
    names: dict[str, list[tuple[str, str]]] = {}
    for path, part in draft.all(ProvisionerSettings).items():
        if not draft.is_unsure(path, "key") and not draft.is_unsure(path, "organization"):
            place = f"{path}.key.name" if part.key.name else f"{path}.name"
            found = (place, part.key.name or part.name)
            names.setdefault(part.organization.lower(), []).append(found)
    for used in names.values():
        for path, name, earlier in _repeated(used):
            # Equal names of provisioners are told already.
            if ".key." in path + earlier:
                yield Clash(
                    path,
                    f'must be unique in its organization: {earlier} already uses "{name}"',
                )


def _objects(draft: Draft) -> Iterator[Clash]:
    """Two parts must not own one object, nor one part what somebody else makes."""
    workloads = draft.all(WorkloadSettings)
    borrowed = {
        (draft.namespace_of(part), secret): f"{path}.{name}"
        for path, part in workloads.items()
        for name, secret in borrowed_secrets(part)
    }
    owners: dict[tuple[str, str, str], tuple[str, WorkloadSettings]] = {}
    told: set[tuple[str, str]] = set()
    for path, part in workloads.items():
        if draft.is_unsure(path, "namespace"):
            continue
        for claim in claims(part, draft.namespace_of(part), draft.unsure.get(path, ())):
            named = f"{claim.kind} {claim.name} in namespace {claim.namespace}"
            owner, other = owners.setdefault(claim[:3], (path, part))
            # Equal names are told already, and one object of a kind is enough to tell of.
            if owner != path and (path, owner) not in told and not _namesakes(part, other):
                told.add((path, owner))
                yield Clash(f"{path}.{claim.field}", f"{named} already belongs to {owner}")
            user = borrowed.get((claim.namespace, claim.name))
            if claim.kind == "Secret" and user:
                yield Clash(f"{path}.{claim.field}", f"{named} is used by {user}: use another")


def _namesakes(one: WorkloadSettings, other: WorkloadSettings) -> bool:
    if isinstance(one, ProvisionerSettings) and isinstance(other, ProvisionerSettings):
        return one.name == other.name
    if isinstance(one, ProxySettings) and isinstance(other, ProxySettings):
        return one.name == other.name
    return False


def _workspace_namespaces(draft: Draft) -> Iterator[Clash]:
    """Each is given rights once, and the part's own namespace always."""
    for path, part in draft.all(WorkloadSettings).items():
        if not isinstance(part, ControlPlaneSettings | ProvisionerSettings):
            continue
        own, seen = draft.namespace_of(part), set[str]()
        for index, place in enumerate(part.workspace_namespaces):
            if place == own or place in seen:
                why = "is always included" if place == own else "is a duplicate"
                yield Clash(f"{path}.workspaceNamespaces[{index}]", f"{place} {why}: remove it")
            seen.add(place)


def _beside_secrets(draft: Draft, secrets: Collection[str]) -> Iterator[Clash]:
    """What is right by itself, but not beside a secret of the stack."""
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
