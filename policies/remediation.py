"""Set missing values in a resource's inputs before they are applied.

Existing values are never changed; the rule reports them if they violate it. The inputs are plain
dicts as pulumi-policy serializes them, with a marker for each secret and each unknown value.
pulumi-policy does not check remediations for unknown values, so these functions skip the markers.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY

from pod_specs import pod_spec_path

Tree = dict[str, Any]


@dataclass(frozen=True)
class EditableInputs:
    """A resource's inputs, edited in place, and the options of the rule."""

    type: str
    tree: Tree
    options: Mapping[str, Any]

    @property
    def pod_spec(self) -> Tree | None:
        """Return the spec of its pods, if it exists and is known."""
        path = pod_spec_path(self.type)
        return mapping_at(self.tree, *path) if path else None


Remediation = Callable[[EditableInputs], bool]
"""Set missing values, and return whether there were any."""


def mapping_at(tree: Tree, *path: str, make: bool = False) -> Tree | None:
    """Return the mapping at that path, or None. With `make`, create what is missing."""
    current: Tree | None = tree
    for key in path:
        if current is None:
            return None
        if make and current.get(key) is None:
            current[key] = {}
        current = _unwrapped(current.get(key))
    return current


def containers_of(inputs: EditableInputs) -> Iterator[Tree]:
    """Yield the known containers of its pods."""
    for kind in ("initContainers", "containers"):
        listed = (inputs.pod_spec or {}).get(kind)
        for each in cast("list[object]", listed) if isinstance(listed, list) else ():
            container = _unwrapped(each)
            if container is not None:
                yield container


def set_default(tree: Tree | None, key: str, value: object) -> bool:
    """Set a missing value, and return whether it was missing."""
    if tree is None or tree.get(key) is not None:
        return False
    tree[key] = value
    return True


def _unwrapped(value: object) -> Tree | None:
    """Return a mapping without its secret marker; None if it is not a mapping."""
    if not isinstance(value, dict):
        return None
    tree = cast("Tree", value)
    if tree.get(SPECIAL_SIG_KEY) == SPECIAL_SECRET_SIG:
        return _unwrapped(tree.get("value"))
    return None if SPECIAL_SIG_KEY in tree else tree
