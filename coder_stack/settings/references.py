"""What must exist in the cluster before a stack is deployed: namespaces, Secrets, ConfigMaps. Pure.

Each part of the config lists its own references (Part.references); this module adds namespaces, and
what volumes and `envFrom` name in Kubernetes' own words. It leaves out objects that the stack
creates. cluster/references.py looks for the others.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import AliasChoices, Field, ValidationError

from coder_stack.frozen_model import FrozenModel
from coder_stack.naming import reconcile_name
from coder_stack.settings.objects import claims, references
from coder_stack.settings.part import Part, Reference
from coder_stack.settings.provisioner import ProvisionerSettings
from coder_stack.settings.reconcile_job import ReconcileJobSettings
from coder_stack.settings.tree import Settings
from coder_stack.settings.workload import WorkloadSettings
from coder_stack.settings.workspace_proxy import ProxySettings


class NeededNamespace(NamedTuple):
    """A namespace that the stack does not create."""

    path: str
    """Path of the field that names it."""
    name: str
    has_condition: bool = False
    """As that of a Reference, for the namespace of such a Secret."""
    cluster: str | None = None
    """Name of its cluster; None: that of `kubernetes`."""


class Needed(NamedTuple):
    """A reference with its full path and its namespace."""

    path: str
    namespace: str
    object: Reference
    cluster: str | None = None


class _Item(FrozenModel):
    key: str


class _Source(FrozenModel):
    """A Secret or ConfigMap as Kubernetes refers to it; the field of its name differs."""

    name: str = Field(default="", validation_alias=AliasChoices("secretName", "name"))
    optional: bool = False
    items: tuple[_Item, ...] = ()


class _Projection(FrozenModel):
    sources: tuple["_Sources", ...] = ()


class _Sources(FrozenModel):
    """An element of `envFrom`, of `volumes`, or of a projected volume."""

    secret: _Source | None = Field(
        default=None, validation_alias=AliasChoices("secret", "secretRef")
    )
    config_map: _Source | None = Field(
        default=None, validation_alias=AliasChoices("configMap", "configMapRef")
    )
    projected: _Projection | None = None

    def references(self, path: str) -> Iterator[Reference]:
        """Return the objects that must exist."""
        for source, is_secret in ((self.secret, True), (self.config_map, False)):
            if source and source.name and not source.optional:
                keys = tuple(each.key for each in source.items)
                kind = "Secret" if is_secret else "ConfigMap"
                yield Reference(path, source.name, keys, kind)
        for index, each in enumerate(self.projected.sources if self.projected else ()):
            yield from each.references(f"{path}.projected.sources[{index}]")


class _Place(NamedTuple):
    path: str
    part: Part
    namespace: str
    cluster: str | None = None


def needed_namespaces(settings: Settings) -> Iterator[NeededNamespace]:
    """Return each use of a namespace that must exist."""
    plane = settings.control_plane
    for path, part, namespace, cluster in _places(settings):
        if isinstance(part, ProvisionerSettings | ProxySettings) and (part.namespace or cluster):
            yield NeededNamespace(f"{path}.namespace", namespace, cluster=cluster)
        elif (
            namespace == plane.namespace and not creates_namespace(settings) and _has_objects(part)
        ):
            yield NeededNamespace("controlPlane.namespace", namespace)
        for index, name in enumerate(getattr(part, "workspace_namespaces", ())):
            field = f"{path}.workspaceNamespaces[{index}]"
            yield NeededNamespace(field, name, cluster=cluster)
        for each in references(part):
            if each.namespace:
                where = f"{path}.{each.path}.namespace"
                yield NeededNamespace(where, each.namespace, each.has_condition)


def creates_namespace(settings: Settings) -> bool:
    """Tell whether the stack creates coderd's namespace."""
    plane = settings.control_plane
    return plane.create_namespace and not plane.exists_already


def _has_objects(part: Part) -> bool:
    return isinstance(part, WorkloadSettings | ReconcileJobSettings)


def needed_objects(settings: Settings) -> Iterator[Needed]:
    """Return each use of a Secret or ConfigMap that somebody else creates."""
    ours = set(_created(settings))
    for path, part, namespace, cluster in _places(settings):
        if isinstance(part, ReconcileJobSettings) and part.suspended:
            # The kubeconfigs hold tokens of accounts that a first, suspended job brings with it.
            continue
        for each in (*references(part), *_in_manifests(part), *_inherited(settings, part)):
            where = each.namespace or namespace
            if (cluster, each.kind, where, each.name) not in ours:
                absolute = each.path.startswith("controlPlane.")
                field = each.path if absolute else f"{path}.{each.path}"
                yield Needed(field, where, each, cluster)


def _places(settings: Settings) -> Iterator[_Place]:
    home = settings.control_plane.namespace
    if not settings.control_plane.exists_already:
        yield _Place("controlPlane", settings.control_plane, home)
    yield _Place("access", settings.access, home)
    yield _Place("license", settings.license, home)
    for name, parts in (("provisioners", settings.provisioners), ("proxies", settings.proxies)):
        for index, part in enumerate(parts):
            yield _Place(f"{name}[{index}]", part, part.namespace or home, part.cluster)
    if settings.reconcile_job:
        yield _Place("reconcileJob", settings.reconcile_job, home)


def _created(settings: Settings) -> Iterator[tuple[str | None, str, str, str]]:
    """Return cluster, kind, namespace and name of what the stack itself creates."""
    plane = settings.control_plane
    for _, part, namespace, cluster in _places(settings):
        if isinstance(part, WorkloadSettings):
            yield from ((cluster, *claim[:3]) for claim in claims(part, namespace))
    yield None, "ConfigMap", plane.namespace, reconcile_name(plane.name)


def _inherited(settings: Settings, part: Part) -> Iterator[Reference]:
    """Return the control plane's pull secrets, for a part without an image of its own."""
    image = settings.control_plane.image
    if part is not settings.control_plane and getattr(part, "image", image) is None:
        for each in image.references():
            yield each._replace(path=f"controlPlane.image.{each.path}")


def _in_manifests(part: Part) -> Iterator[Reference]:
    """Return what `envFrom` and volumes name."""
    if isinstance(part, WorkloadSettings):
        for field, manifests in (("envFrom", part.env_from), ("volumes", part.volumes)):
            for index, manifest in enumerate(manifests):
                try:
                    found = _Sources.model_validate(manifest)
                except ValidationError:
                    continue  # the API server says what is wrong with it
                yield from found.references(f"{field}[{index}]")
