"""The operations on one cluster's objects: check, diff, create, read, update, delete.

Each is a few decisions and calls, in the official plugin's order. Works on decoded values; the gRPC side is in
`servicer`, what the decisions mean in the modules they come from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sandbox.kubernetes_plugin import checkpoint, naming
from sandbox.kubernetes_plugin.api import Api
from sandbox.kubernetes_plugin.applying import Applier
from sandbox.kubernetes_plugin.difference import Difference, difference
from sandbox.kubernetes_plugin.engine_log import EngineLog
from sandbox.kubernetes_plugin.errors import (
    ApiError,
    Cancelled,
    NoSuchKind,
    NotReady,
    PluginError,
    Unsupported,
)
from sandbox.kubernetes_plugin.normalising import normalise
from sandbox.kubernetes_plugin.objects import (
    PATCH_FIELD_MANAGER,
    REPLACE_UNREADY,
    SKIP_AWAIT,
    Kind,
    annotation,
    id_of,
    kind_of,
    kind_of_type,
    name_of,
    namespace_of,
    split_id,
    with_metadata,
)
from sandbox.kubernetes_plugin.pruning import prune
from sandbox.kubernetes_plugin.replacement import Mutability, replacing_paths
from sandbox.kubernetes_plugin.settings import Settings
from sandbox.kubernetes_plugin.values import (
    Object,
    as_object,
    carry_secrets,
    dig,
    has_unknown,
    reveal_object,
)
from sandbox.kubernetes_plugin.waiting import Waiter

# Kinds outside any namespace, for when the cluster cannot be asked.
_CLUSTER_WIDE: Final = frozenset(
    {
        "APIService", "CSIDriver", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition",
        "GatewayClass", "IngressClass", "MutatingWebhookConfiguration", "Namespace", "Node",
        "PersistentVolume", "PriorityClass", "RuntimeClass", "StorageClass",
        "ValidatingWebhookConfiguration",
    }
)  # fmt: skip
# Not inputs, though they are in a live object that is imported.
_NOT_INPUTS: Final = frozenset({"status"})


@dataclass(frozen=True)
class Named:
    """Which resource a request is about."""

    urn: str

    @property
    def type(self) -> str:
        """The type token, `kubernetes:apps/v1:Deployment`."""
        return self.urn.split("::")[2].rpartition("$")[2]

    @property
    def name(self) -> str:
        """The resource's name in the program."""
        return self.urn.partition("::")[2].split("::", 2)[2]


@dataclass(frozen=True)
class InitFailed(Exception):
    """The object is in the cluster but not live: the engine must store it, with the reasons."""

    id: str
    outputs: Object
    inputs: Object | None
    reasons: list[str]


class Provider:
    """The objects of one configured provider. `api` is None if the cluster is unreachable."""

    def __init__(
        self, settings: Settings, api: Api | None, unreachable: PluginError | None, log: EngineLog
    ) -> None:
        self._settings = settings
        self._api = api
        self._unreachable = unreachable
        self._log = log
        self._mutability = Mutability(settings.secrets_mutable, settings.config_maps_mutable)

    # -- what needs no cluster -------------------------------------------------------------------

    def check(
        self, named: Named, old: Object, new: Object, seed: bytes, proposed: str, mode: naming.Mode
    ) -> Object:
        """The inputs with name, namespace and canonical values; secrets and unknowns stay."""
        _refuse_unsupported(named.type, new)
        inputs = normalise(checkpoint.to_server(reveal_object(new)))
        if dig(inputs, "metadata", "generateName") is not None and not naming.is_named(inputs):
            raise PluginError(
                "`.metadata.generateName` is not supported with server-side apply; set a name"
            )
        old_inputs = checkpoint.to_server(reveal_object(old))
        if old_inputs:
            inputs = naming.keep_name(inputs, old_inputs)
        if not old_inputs or not naming.is_named(inputs):
            inputs = naming.give_name(inputs, named.name, seed, proposed, mode)
        namespace = dig(inputs, "metadata", "namespace")
        if namespace in (None, "") and self._namespaced(kind_of(inputs)):
            inputs = with_metadata(inputs, namespace=self._settings.namespace or "default")
        return carry_secrets(checkpoint.to_engine(inputs), new)

    def _namespaced(self, kind: Kind) -> bool:
        if self._api is not None:
            try:
                return self._api.is_namespaced(kind)
            except (NoSuchKind, PluginError):
                pass  # perhaps a CRD of this very update: nearly all custom kinds are namespaced
        return kind.name not in _CLUSTER_WIDE

    def diff(
        self, named: Named, state: Object, new: Object, ignored: Iterable[str]
    ) -> tuple[Difference, bool]:
        """The changes from the stored state to the new inputs, and whether to delete before replacing."""
        stored = checkpoint.parse(state)
        inputs = normalise(checkpoint.to_server(reveal_object(new)))
        live = _canonical(prune(stored.live, normalise(stored.inputs)))
        inputs = _canonical(inputs)
        if name_of(inputs):
            live = with_metadata(live, name=name_of(stored.live))
        if not kind_of(live).name:
            live = {**live, "apiVersion": inputs.get("apiVersion"), "kind": inputs.get("kind")}
        if not self._namespaced(kind_of(inputs)):
            live, inputs = _without_namespace(live), _without_namespace(inputs)
        if annotation(inputs, REPLACE_UNREADY):
            raise Unsupported(f"the annotation {REPLACE_UNREADY}")
        found = difference(live, inputs, replacing_paths(inputs, self._mutability), ignored)
        in_place_of_old = (
            naming.is_named(inputs)
            and not naming.is_autonamed(inputs)
            and name_of(inputs) == name_of(stored.live)
            and namespace_of(inputs) == namespace_of(stored.live)
        )
        del named
        return found, bool(found.replaces) and in_place_of_old

    # -- what needs it ---------------------------------------------------------------------------

    def create(
        self, named: Named, new: Object, timeout: float, *, preview: bool
    ) -> tuple[str, Object]:
        """Create the object (or see what a create would give) and wait until it is live."""
        inputs = checkpoint.to_server(reveal_object(new))
        if preview and (
            has_unknown(inputs) or self._api is None or not self._api.serves(kind_of(inputs))
        ):
            return "", new
        applier, waiter = self._tools()
        manager = annotation(inputs, PATCH_FIELD_MANAGER) or naming.field_manager()
        version = kind_of(inputs).api_version
        if preview:
            dry_run = applier.preview_create(inputs, manager)
            if dry_run is None:
                return "", new
            expected = checkpoint.preview_of_create(dry_run, inputs)
            return "", checkpoint.build(inputs, expected, new, manager, version)
        try:
            live = applier.create(inputs, manager, named.urn)
        except (ApiError, NoSuchKind, Cancelled) as error:
            raise _create_failure(named, inputs, error) from error
        try:
            live = waiter.until_ready(live, inputs, timeout, named.urn)
        except NotReady as error:
            outputs = checkpoint.build(inputs, error.live, new, manager, version)
            told = (
                f'resource "{named.urn}" was successfully created, but the Kubernetes API server '
                f"reported that it failed to fully initialize or become live: {error}"
            )
            raise InitFailed(id_of(error.live), outputs, None, [told, *error.reasons]) from error
        return id_of(live), checkpoint.build(inputs, live, new, manager, version)

    def read(
        self, named: Named, identity: str, state: Object, inputs: Object
    ) -> tuple[str, Object, Object] | None:
        """The live object and the part of it that our inputs name; None if it is gone."""
        applier, waiter = self._tools()
        old_inputs = normalise(checkpoint.to_server(reveal_object(inputs)))
        stored = checkpoint.parse(state)
        imported = not kind_of(old_inputs).name and not kind_of(stored.live).name
        kind = next(
            kind
            for kind in (kind_of(old_inputs), kind_of(stored.live), kind_of_type(named.type))
            if kind.name
        )
        namespace, name = split_id(identity)
        try:
            live = applier.api.get(kind, namespace or namespace_of(old_inputs), name)
        except NoSuchKind:
            return None  # its CRD is gone, and every object of the kind with it
        except ApiError as error:
            if error.not_found:
                return None
            raise
        live_inputs = _importable(live) if imported else prune(live, old_inputs)
        manager = annotation(live_inputs, PATCH_FIELD_MANAGER) or stored.field_manager
        outputs = checkpoint.build(
            live_inputs,
            live,
            inputs,
            manager or naming.field_manager(),
            stored.initial_api_version or kind.api_version,
        )
        marked = carry_secrets(checkpoint.to_engine(live_inputs), inputs)
        if not imported and annotation(old_inputs, SKIP_AWAIT) not in {"true", "ready"}:
            verdict = waiter.verdict(live)
            if not verdict.ready and not verdict.settling and _judged_on_read(kind):
                reasons = [f'{kind.name} "{name}" is not ready', *verdict.reasons]
                raise InitFailed(identity, outputs, marked, reasons)
        return identity, outputs, marked

    def update(
        self,
        named: Named,
        state: Object,
        new: Object,
        timeout: float,
        ignored: list[str],
        *,
        preview: bool,
    ) -> Object:
        """Bring the object to the new inputs (or see what that would give) and wait until it is live."""
        inputs = normalise(checkpoint.to_server(reveal_object(new)))
        if preview and (
            has_unknown(inputs) or self._api is None or not self._api.serves(kind_of(inputs))
        ):
            return new
        applier, waiter = self._tools()
        stored = checkpoint.parse(state)
        manager = (
            annotation(inputs, PATCH_FIELD_MANAGER)
            or stored.field_manager
            or naming.field_manager()
        )
        version = stored.initial_api_version or kind_of(inputs).api_version
        live = applier.live(inputs)
        try:
            live = applier.update(inputs, live, manager, ignored, preview=preview)
            if not preview:
                live = waiter.until_ready(live, inputs, timeout, named.urn)
        except (PluginError, NotReady) as error:
            if preview and isinstance(error, ApiError) and error.forbidden:
                return new
            if isinstance(error, Unsupported):
                raise
            last = error.live if isinstance(error, NotReady) else applier.live(inputs)
            outputs = checkpoint.build(inputs, last, new, manager, version)
            told = (
                f'the Kubernetes API server reported that "{id_of(inputs)}" failed to fully initialize '
                f"or become live: {error}"
            )
            more = error.reasons if isinstance(error, NotReady) else []
            raise InitFailed(id_of(last), outputs, None, [told, *more]) from error
        return checkpoint.build(inputs, live, new, manager, version)

    def delete(self, named: Named, identity: str, state: Object, timeout: float) -> None:
        """Delete the object and wait until it is gone."""
        if self._api is None and self._settings.delete_unreachable:
            self._log.info(
                named.urn, "the cluster is unreachable: the resource is dropped from the state"
            )
            return
        _, waiter = self._tools()
        stored = checkpoint.parse(state)
        namespace, name = split_id(identity)
        live = stored.live if kind_of(stored.live).name else stored.inputs
        live = with_metadata(live, name=name)
        if namespace:
            live = with_metadata(live, namespace=namespace)
        waiter.delete(live, stored.inputs, timeout, named.urn)

    @property
    def drops_unreachable(self) -> bool:
        """Whether a refresh may forget everything because the cluster does not answer (opt-in)."""
        return self._api is None and self._settings.delete_unreachable

    def _tools(self) -> tuple[Applier, Waiter]:
        if self._api is None:
            raise self._unreachable or PluginError("the provider is not configured")
        applier = Applier(self._api, self._log, self._settings.patch_force, self._settings.upsert)
        return applier, Waiter(self._api, self._log)


def _refuse_unsupported(token: str, inputs: Object) -> None:
    _, module, name = (token.split(":") + ["", ""])[:3]
    if module.startswith(("helm.sh", "yaml", "kustomize")):
        raise Unsupported(f"the type {token}")
    if name.endswith("Patch") and inputs.get("kind") == name.removesuffix("Patch"):
        raise Unsupported(f"the Patch resource {token}")
    if name.endswith("List") and inputs.get("items") is not None:
        raise PluginError(
            "list resources cannot be created directly; use the underlying resource type"
        )


def _judged_on_read(kind: Kind) -> bool:
    return kind.key not in {
        "v1/PersistentVolume",
        "v1/PersistentVolumeClaim",
        "v1/ResourceQuota",
        "v1/Secret",
    }


def _create_failure(named: Named, inputs: Object, error: PluginError) -> PluginError:
    kind = kind_of(inputs)
    if isinstance(error, NoSuchKind):
        return PluginError(
            f'creation of resource "{named.urn}" with kind {kind.key} failed because the Kubernetes API '
            "server reported that the apiVersion for this resource does not exist. "
            f"Verify that any required CRDs have been created: {error}"
        )
    return PluginError(
        f'resource "{named.urn}" was not successfully created by the Kubernetes API server: {error}'
    )


def _canonical(obj: Object) -> Object:
    """An absent namespace is the default one."""
    namespace = namespace_of(obj)
    if namespace or dig(obj, "metadata", "namespace") is not None:
        return obj
    return with_metadata(obj, namespace="default")


def _without_namespace(obj: Object) -> Object:
    metadata = {
        key: value for key, value in as_object(obj.get("metadata")).items() if key != "namespace"
    }
    return {**obj, "metadata": metadata}


def _importable(live: Object) -> Object:
    """The inputs that an imported object would have had: everything but what the server decided."""
    kept: Object = {key: value for key, value in live.items() if key not in _NOT_INPUTS}
    annotations = {
        key: value
        for key, value in as_object(dig(live, "metadata", "annotations")).items()
        if key
        not in {
            "deployment.kubernetes.io/revision",
            "kubectl.kubernetes.io/last-applied-configuration",
        }
    }
    if annotations:
        return normalise(with_metadata(kept, annotations=annotations))
    metadata = {
        key: value for key, value in as_object(live.get("metadata")).items() if key != "annotations"
    }
    return normalise({**kept, "metadata": metadata})
