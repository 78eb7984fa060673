"""Pulumi's state of an object: the live object, and metadata under keys with `__`.

Unlike the official plugin, it omits `metadata.managedFields`: they are long and change often, and
an update reads the live ones. Data of Secrets is always marked secret.
"""

from dataclasses import dataclass
from typing import Final

from sandbox.kubernetes_plugin.objects import Kind, kind_of
from sandbox.kubernetes_plugin.values import (
    UNKNOWN,
    Object,
    Secret,
    Value,
    as_list,
    as_object,
    as_text,
    carry_secrets,
    dig,
    reveal_object,
)

INPUTS: Final = "__inputs"
INITIAL_API_VERSION: Final = "__initialApiVersion"
FIELD_MANAGER: Final = "__fieldManager"

# CRD schemas have dashes in property names, which the SDKs replace.
_DASHED: Final = {
    name.replace("-", "_"): name
    for name in (
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    )
}
_UNDERSCORED: Final = {dashed: name for name, dashed in _DASHED.items()}
# Each dry run generates other values, so a preview shows them as unknown.
# (`resourceVersion` is missing in a dry run, and would be shown as empty.)
_DECIDED_BY_SERVER: Final = ("uid", "resourceVersion", "creationTimestamp")


@dataclass(frozen=True)
class Checkpoint:
    """A parsed state."""

    inputs: Object
    live: Object
    field_manager: str
    initial_api_version: str


def parse(state: Object) -> Checkpoint:
    """Parse a state; secrets are revealed."""
    plain = to_server(reveal_object(state))
    inputs = as_object(plain.pop(INPUTS, {}))
    version = as_text(plain.pop(INITIAL_API_VERSION, "")) or kind_of(inputs).api_version
    return Checkpoint(inputs, plain, as_text(plain.pop(FIELD_MANAGER, "")), version)


def build(
    inputs: Object, live: Object, known: Object, field_manager: str, initial_api_version: str
) -> Object:
    """Build a state; what is secret in `known` is secret in it."""
    outputs = carry_secrets(to_engine(_without_managed_fields(live)), known)
    if kind_of(live) == Kind("v1", "Secret") and isinstance(known.get("stringData"), Secret):
        outputs = carry_secrets(outputs, {"data": known["stringData"]})
    outputs[INPUTS] = carry_secrets(to_engine(inputs), known)
    outputs[INITIAL_API_VERSION] = initial_api_version
    outputs[FIELD_MANAGER] = field_manager
    return outputs


def preview_of_create(dry_run: Object, inputs: Object) -> Object:
    """Return a dry run's result, with unknowns for the values that the create generates."""
    preview: Object = {key: value for key, value in dry_run.items() if key != "status"}
    metadata = dict(as_object(preview.get("metadata")))
    metadata.update(dict.fromkeys(_DECIDED_BY_SERVER, UNKNOWN))
    preview["metadata"] = metadata
    if kind_of(dry_run) == Kind("v1", "Service"):
        preview["spec"] = _unallocated(
            as_object(preview.get("spec")), as_object(inputs.get("spec"))
        )
    return preview


def _unallocated(spec: Object, wanted: Object) -> Object:
    """Return a Service's spec with unknown addresses and node ports, unless the inputs set them."""
    held = dict(spec)
    for key in ("clusterIP", "clusterIPs", "healthCheckNodePort"):
        if key in held and key not in wanted and "clusterIP" not in wanted:
            held[key] = UNKNOWN
    asked = as_list(wanted.get("ports"))
    ports: list[Value] = []
    for index, port in enumerate(as_list(held.get("ports"))):
        chosen = index < len(asked) and dig(asked[index], "nodePort") is not None
        fields = as_object(port)
        ports.append(
            {**fields, "nodePort": UNKNOWN} if "nodePort" in fields and not chosen else port
        )
    return {**held, "ports": ports} if ports else held


def _without_managed_fields(live: Object) -> Object:
    metadata = {
        key: value
        for key, value in as_object(live.get("metadata")).items()
        if key != "managedFields"
    }
    return {**live, "metadata": metadata}


def to_server(tree: Object) -> Object:
    """Rename properties to the API server's names."""
    return as_object(_renamed(tree, _DASHED))


def to_engine(tree: Object) -> Object:
    """Rename properties to the SDKs' names."""
    return as_object(_renamed(tree, _UNDERSCORED))


def _renamed(value: Value, names: dict[str, str]) -> Value:
    if isinstance(value, Secret):
        return Secret(_renamed(value.value, names))
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    return value
