"""The operations on objects: check, diff, create, read, update, delete.

They work on decoded values, in the official plugin's order. gRPC is in servicer.py.
"""

from collections.abc import Iterable
from typing import Final

from sandbox.kubernetes_plugin import checkpoint, naming
from sandbox.kubernetes_plugin.api import Api
from sandbox.kubernetes_plugin.applying import Applier
from sandbox.kubernetes_plugin.checking import Checker, NamingRequest, Plan
from sandbox.kubernetes_plugin.deleting import Deleter
from sandbox.kubernetes_plugin.engine_log import EngineLog
from sandbox.kubernetes_plugin.errors import (
    ApiError,
    Cancelled,
    InitFailed,
    NoSuchKind,
    NotReady,
    PluginError,
    Unsupported,
)
from sandbox.kubernetes_plugin.normalising import normalise
from sandbox.kubernetes_plugin.objects import (
    PATCH_FIELD_MANAGER,
    Kind,
    annotation,
    id_of,
    importable,
    kind_of,
    namespace_of,
    split_id,
    with_metadata,
)
from sandbox.kubernetes_plugin.options import ProviderOptions
from sandbox.kubernetes_plugin.pruning import prune
from sandbox.kubernetes_plugin.replacement import Mutability
from sandbox.kubernetes_plugin.urns import Urn
from sandbox.kubernetes_plugin.values import Object, carry_secrets, has_unknown, reveal_object
from sandbox.kubernetes_plugin.waiting import Waiter

# Kinds without a namespace, for when the cluster is unreachable.
_CLUSTER_WIDE: Final = frozenset(
    {
        "APIService", "CSIDriver", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition",
        "GatewayClass", "IngressClass", "MutatingWebhookConfiguration", "Namespace", "Node",
        "PersistentVolume", "PriorityClass", "RuntimeClass", "StorageClass",
        "ValidatingWebhookConfiguration",
    }
)  # fmt: skip


class KubernetesProvider:
    """A configured provider; `cluster` is an error if the cluster is unreachable."""

    def __init__(
        self, options: ProviderOptions, cluster: Api | PluginError, log: EngineLog
    ) -> None:
        self._options = options
        self._cluster = cluster
        self._log = log
        self._checker = Checker(
            options.namespace or "default",
            Mutability(options.secrets_mutable, options.config_maps_mutable),
            self._is_namespaced,
        )

    def check(self, urn: Urn, old: Object, new: Object, naming_request: NamingRequest) -> Object:
        """Complete the inputs; return the old ones if an unreachable cluster is to be skipped."""
        if self._skips_unreachable and old:
            self._log.warning(urn.text, "the cluster is unreachable: the resource is skipped")
            return old
        return self._checker.check(urn, old, new, naming_request)

    def diff(self, state: Object, new: Object, ignored: Iterable[str]) -> Plan:
        """Compare the new inputs with the state."""
        return self._checker.diff(state, new, ignored)

    def create(self, urn: Urn, new: Object, timeout: float, *, preview: bool) -> tuple[str, Object]:
        """Create the object and wait until it is ready; in a preview, make a dry run."""
        inputs = checkpoint.to_server(reveal_object(new))
        if preview and not self._can_preview(inputs):
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
            live = applier.create(inputs, manager, urn.text)
        except (ApiError, NoSuchKind, Cancelled) as error:
            raise _create_failure(urn, kind_of(inputs), error) from error
        try:
            live = waiter.until_ready(live, inputs, timeout, urn.text)
        except NotReady as error:
            outputs = checkpoint.build(inputs, error.live, new, manager, version)
            told = (
                f'resource "{urn.text}" was successfully created, but the Kubernetes API server '
                f"reported that it failed to fully initialize or become live: {error}"
            )
            raise InitFailed(id_of(error.live), outputs, [told, *error.reasons]) from error
        return id_of(live), checkpoint.build(inputs, live, new, manager, version)

    def read(
        self, urn: Urn, identity: str, state: Object, inputs: Object
    ) -> tuple[str, Object, Object] | None:
        """Return current id, outputs and inputs; None if the object is gone."""
        if isinstance(self._cluster, PluginError) and self._options.delete_unreachable:
            self._log.warning(urn.text, "the cluster is unreachable: dropped from the state")
            return None
        if self._skips_unreachable:
            return identity, state, inputs
        applier, waiter = self._tools()
        old_inputs = normalise(checkpoint.to_server(reveal_object(inputs)))
        stored = checkpoint.parse(state)
        kinds = [kind for kind in (kind_of(old_inputs), kind_of(stored.live)) if kind.name]
        imported, kind = not kinds, (*kinds, urn.kind)[0]
        namespace, name = split_id(identity)
        try:
            live = applier.api.get(kind, namespace or namespace_of(old_inputs), name)
        except NoSuchKind:
            return None  # its CRD is gone, and every object of the kind with it
        except ApiError as error:
            if error.not_found:
                return None
            raise
        live_inputs = normalise(importable(live)) if imported else prune(live, old_inputs)
        manager = annotation(live_inputs, PATCH_FIELD_MANAGER) or stored.field_manager
        outputs = checkpoint.build(
            live_inputs,
            live,
            inputs,
            manager or naming.field_manager(),
            stored.initial_api_version or kind.api_version,
        )
        marked = carry_secrets(checkpoint.to_engine(live_inputs), inputs)
        reasons = [] if imported else waiter.troubles(live, old_inputs)
        if reasons:
            raise InitFailed(identity, outputs, reasons, marked)
        return identity, outputs, marked

    def update(
        self,
        urn: Urn,
        state: Object,
        new: Object,
        timeout: float,
        ignored: list[str],
        *,
        preview: bool,
    ) -> Object:
        """Apply the inputs and wait until the object is ready; in a preview, make a dry run."""
        inputs = normalise(checkpoint.to_server(reveal_object(new)))
        if preview and not self._can_preview(inputs):
            return new
        applier, waiter = self._tools()
        stored = checkpoint.parse(state)
        chosen = annotation(inputs, PATCH_FIELD_MANAGER) or stored.field_manager
        manager = chosen or naming.field_manager()
        version = stored.initial_api_version or kind_of(inputs).api_version
        try:
            live = applier.live(inputs)
        except (ApiError, NoSuchKind) as error:
            raise PluginError(f'update of resource "{urn.text}" failed: {error}') from error
        try:
            live = applier.update(inputs, live, manager, ignored, preview=preview)
            if not preview:
                live = waiter.until_ready(live, inputs, timeout, urn.text)
        except Unsupported:
            raise
        except PluginError as error:
            if preview and isinstance(error, ApiError) and error.forbidden:
                return new
            # The object exists, so the engine must keep it.
            last = error.live if isinstance(error, NotReady) else applier.live(inputs)
            outputs = checkpoint.build(inputs, last, new, manager, version)
            told = (
                f'the Kubernetes API server reported that "{id_of(inputs)}" failed to fully '
                f"initialize or become live: {error}"
            )
            more = error.reasons if isinstance(error, NotReady) else []
            raise InitFailed(id_of(last), outputs, [told, *more]) from error
        return checkpoint.build(inputs, live, new, manager, version)

    def delete(self, urn: Urn, identity: str, state: Object, timeout: float) -> None:
        """Delete the object and wait until it is gone."""
        if isinstance(self._cluster, PluginError) and self._options.delete_unreachable:
            self._log.warning(urn.text, "the cluster is unreachable: dropped from the state")
            return
        applier, _ = self._tools()
        stored = checkpoint.parse(state)
        namespace, name = split_id(identity)
        live = stored.live if kind_of(stored.live).name else stored.inputs
        place: Object = {"namespace": namespace} if namespace else {}
        live = with_metadata(live, name=name, **place)
        Deleter(applier.api, self._log).delete(live, stored.inputs, timeout, urn.text)

    @property
    def _skips_unreachable(self) -> bool:
        unreachable = isinstance(self._cluster, PluginError)
        return unreachable and self._options.skip_update_unreachable

    def _is_namespaced(self, kind: Kind) -> bool:
        if isinstance(self._cluster, Api):
            try:
                return self._cluster.is_namespaced(kind)
            except NoSuchKind:
                pass  # perhaps a CRD of this very update: nearly all custom kinds are namespaced
        return kind.name not in _CLUSTER_WIDE

    def _can_preview(self, inputs: Object) -> bool:
        """Return whether a dry run is possible: all values are known, and the kind exists."""
        if has_unknown(inputs) or not isinstance(self._cluster, Api):
            return False
        return self._cluster.serves(kind_of(inputs))

    def _tools(self) -> tuple[Applier, Waiter]:
        if isinstance(self._cluster, PluginError):
            raise self._cluster
        options = self._options
        applier = Applier(self._cluster, self._log, options.patch_force, options.upsert)
        return applier, Waiter(self._cluster, self._log)


def _create_failure(urn: Urn, kind: Kind, error: PluginError) -> PluginError:
    if isinstance(error, NoSuchKind):
        return PluginError(
            f'creation of resource "{urn.text}" with kind {kind.key} failed because the Kubernetes '
            "API server reported that the apiVersion for this resource does not exist. "
            f"Verify that any required CRDs have been created: {error}"
        )
    return PluginError(
        f'resource "{urn.text}" was not successfully created by the Kubernetes API server: {error}'
    )
