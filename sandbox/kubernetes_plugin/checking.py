"""Complete a program's inputs (name, namespace, values), and compare them with the state.

Unknown values of previews are kept. The cluster is only asked whether a kind is namespaced.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sandbox.kubernetes_plugin import checkpoint, naming, wait_for
from sandbox.kubernetes_plugin.difference import InputsDiff, difference
from sandbox.kubernetes_plugin.errors import PluginError, Unsupported
from sandbox.kubernetes_plugin.normalising import normalise
from sandbox.kubernetes_plugin.objects import (
    REPLACE_UNREADY,
    WAIT_FOR,
    Kind,
    annotation,
    kind_of,
    name_of,
    namespace_of,
    with_metadata,
)
from sandbox.kubernetes_plugin.pruning import prune
from sandbox.kubernetes_plugin.replacement import Mutability, replacing_paths
from sandbox.kubernetes_plugin.urns import Urn
from sandbox.kubernetes_plugin.values import (
    Object,
    as_object,
    carry_secrets,
    dig,
    reveal_object,
)


@dataclass(frozen=True)
class NamingRequest:
    """The engine's instructions for naming a resource without a name."""

    seed: bytes = b""
    proposed: str = ""
    mode: naming.Mode = naming.Mode.PROPOSE


@dataclass(frozen=True)
class Plan:
    """The changes of a diff, and whether a replacement deletes first."""

    difference: InputsDiff
    delete_before_replace: bool


@dataclass(frozen=True)
class Checker:
    """Completes and compares inputs for one provider."""

    default_namespace: str
    mutability: Mutability
    is_namespaced: Callable[[Kind], bool]

    def check(self, urn: Urn, old: Object, new: Object, naming_request: NamingRequest) -> Object:
        """Return the inputs to apply and store; secrets stay secret."""
        _refuse_unsupported(urn, new)
        inputs = normalise(checkpoint.to_server(reveal_object(new)))
        if dig(inputs, "metadata", "generateName") is not None and not naming.is_named(inputs):
            raise PluginError(
                "`metadata.generateName` is not supported with server-side apply; set a name"
            )
        inputs = naming.keep_name(inputs, checkpoint.to_server(reveal_object(old)))
        inputs = naming.give_name(
            inputs, urn.name, naming_request.seed, naming_request.proposed, naming_request.mode
        )
        missing = dig(inputs, "metadata", "namespace") in (None, "")
        if missing and self.is_namespaced(kind_of(inputs)):
            inputs = with_metadata(inputs, namespace=self.default_namespace)
        return carry_secrets(checkpoint.to_engine(inputs), new)

    def diff(self, state: Object, new: Object, ignored: Iterable[str]) -> Plan:
        """Return the changes from the stored state, reduced to our fields, to the new inputs."""
        stored = checkpoint.parse(state)
        inputs = normalise(checkpoint.to_server(reveal_object(new)))
        live = prune(stored.live, normalise(stored.inputs))
        if self.is_namespaced(kind_of(inputs)):
            live, inputs = _with_namespace(live), _with_namespace(inputs)
        else:
            live, inputs = _without_namespace(live), _without_namespace(inputs)
        if name_of(inputs):
            live = with_metadata(live, name=name_of(stored.live))
        if not kind_of(live).name:
            live = {**live, "apiVersion": inputs.get("apiVersion"), "kind": inputs.get("kind")}
        found = difference(live, inputs, replacing_paths(inputs, self.mutability), ignored)
        same_name = (
            naming.is_named(inputs)
            and not naming.is_autonamed(inputs)
            and name_of(inputs) == name_of(stored.live)
            and namespace_of(inputs) == namespace_of(stored.live)
        )
        return Plan(found, bool(found.replaces) and same_name)


def _refuse_unsupported(urn: Urn, inputs: Object) -> None:
    if urn.module.startswith(("helm.sh", "yaml", "kustomize")):
        raise Unsupported(f"the type {urn.type}")
    name = urn.kind.name
    if name.endswith("Patch") and inputs.get("kind") == name.removesuffix("Patch"):
        raise Unsupported(f"the Patch resource {urn.type}")
    if name.endswith("List") and inputs.get("items") is not None:
        raise PluginError(f"{name} cannot be created directly; use the underlying resource type")
    if annotation(inputs, REPLACE_UNREADY):
        raise Unsupported(f"the annotation {REPLACE_UNREADY}")
    wait_for.parse(annotation(inputs, WAIT_FOR))


def _with_namespace(obj: Object) -> Object:
    """Treat a missing namespace as the default one."""
    known = dig(obj, "metadata", "namespace") not in (None, "")
    return obj if known else with_metadata(obj, namespace="default")


def _without_namespace(obj: Object) -> Object:
    metadata = as_object(obj.get("metadata"))
    kept: Object = {key: value for key, value in metadata.items() if key != "namespace"}
    return {**obj, "metadata": kept}
