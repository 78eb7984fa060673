"""Generate names for objects without one: `<resource name>-<8 hex digits>`.

Updates keep the name. A replacement gets a new one, so that it can be created before the old object
is deleted. An annotation marks generated names for `diff`.
"""

import hashlib
import secrets
from enum import Enum

from sandbox.kubernetes_plugin.errors import PluginError
from sandbox.kubernetes_plugin.objects import (
    AUTONAMED,
    annotation,
    name_of,
    with_annotation,
    with_metadata,
)
from sandbox.kubernetes_plugin.values import Object, Unknown, dig


class Mode(Enum):
    """The modes of the engine's autonaming, with the protocol's numbers."""

    PROPOSE = 0
    ENFORCE = 1
    DISABLE = 2


def is_autonamed(obj: Object) -> bool:
    """Return whether the object's name was generated."""
    return annotation(obj, AUTONAMED) == "true"


def is_named(inputs: Object) -> bool:
    """Return whether the inputs have a name, even an unknown one."""
    return bool(name_of(inputs)) or isinstance(dig(inputs, "metadata", "name"), Unknown)


def suffix(seed: bytes) -> str:
    """Return eight hex digits, determined by the seed if there is one."""
    return hashlib.sha256(seed).hexdigest()[:8] if seed else secrets.token_hex(4)


def field_manager() -> str:
    """Return a new name of a field manager, for one object."""
    return f"pulumi-kubernetes-{secrets.token_hex(4)}"


def keep_name(inputs: Object, old_inputs: Object) -> Object:
    """Return the inputs with the generated name of the existing object, if they have none."""
    if is_named(inputs) or not is_autonamed(old_inputs):
        return inputs
    return _autonamed(inputs, name_of(old_inputs))


def give_name(
    inputs: Object, base: str, seed: bytes, proposed: str = "", mode: Mode = Mode.PROPOSE
) -> Object:
    """Return the inputs with a new name, if they have none."""
    if is_named(inputs):
        return inputs
    if mode is Mode.DISABLE:
        raise PluginError(
            f'resource "{base}" has no `metadata.name` and automatic naming is disabled; set a name'
        )
    return _autonamed(inputs, proposed or f"{base}-{suffix(seed)}")


def _autonamed(inputs: Object, name: str) -> Object:
    return with_annotation(with_metadata(inputs, name=name), AUTONAMED, "true")
