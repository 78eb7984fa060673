"""Names for objects that the program does not name: `<resource name>-<8 hex digits>`.

The name is kept over updates; a replacement gets a new one, which is what lets it be created
before the old object is deleted. The annotation says that the name was made here, so that `diff`
knows.
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
    """What the engine's autonaming setting asks for (numbers as in the protocol)."""

    PROPOSE = 0
    ENFORCE = 1
    DISABLE = 2


def is_autonamed(obj: Object) -> bool:
    """Whether the object's name was made here."""
    return annotation(obj, AUTONAMED) == "true"


def is_named(inputs: Object) -> bool:
    """Whether the inputs have a name, be it one that is not known yet."""
    return bool(name_of(inputs)) or isinstance(dig(inputs, "metadata", "name"), Unknown)


def suffix(seed: bytes) -> str:
    """Eight hex digits, the same ones for the same seed; random ones without a seed."""
    return hashlib.sha256(seed).hexdigest()[:8] if seed else secrets.token_hex(4)


def field_manager() -> str:
    """A new field manager name, one for each object."""
    return f"pulumi-kubernetes-{secrets.token_hex(4)}"


def keep_name(inputs: Object, old_inputs: Object) -> Object:
    """The inputs with the autoname of the object that is already there, if they have none."""
    if is_named(inputs) or not is_autonamed(old_inputs):
        return inputs
    return _autonamed(inputs, name_of(old_inputs))


def give_name(
    inputs: Object, base: str, seed: bytes, proposed: str = "", mode: Mode = Mode.PROPOSE
) -> Object:
    """The inputs with a new name, if they have none."""
    if is_named(inputs):
        return inputs
    if mode is Mode.DISABLE:
        raise PluginError(
            f'resource "{base}" has no `metadata.name` and automatic naming is disabled; set a name'
        )
    return _autonamed(inputs, proposed or f"{base}-{suffix(seed)}")


def _autonamed(inputs: Object, name: str) -> Object:
    return with_annotation(with_metadata(inputs, name=name), AUTONAMED, "true")
