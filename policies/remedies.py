"""Editing a resource's inputs before they are applied: fills in what is missing, overrules nothing.

What somebody wrote stays as it is, and is reported as a violation if it breaks a rule. Works on
plain trees as pulumi-policy serializes them: a secret is an envelope, an unknown value a marker.
pulumi-policy does not guard remediations against unknown values, so nothing here looks into one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY

from pod_shapes import pod_spec_path

__all__ = ["Draft", "Remedy", "Tree", "below", "containers_in", "fill"]

Tree = dict[str, Any]


@dataclass(frozen=True)
class Draft:
    """A resource's inputs, to be edited in place, with the options of the rule."""

    type: str
    tree: Tree
    options: Mapping[str, Any]

    @property
    def pod_spec(self) -> Tree | None:
        """The spec of its pods, if there is one and it is known."""
        path = pod_spec_path(self.type)
        return below(self.tree, *path) if path else None


Remedy = Callable[[Draft], bool]
"""Fills in what is missing; says whether there was anything."""


def below(tree: Tree, *path: str, make: bool = False) -> Tree | None:
    """The mapping at that path; None if something else, or nothing, is there.

    With `make`, what is missing on the way is made.
    """
    current: Tree | None = tree
    for key in path:
        if current is None:
            return None
        if make and current.get(key) is None:
            current[key] = {}
        current = _opened(current.get(key))
    return current


def containers_in(draft: Draft) -> Iterator[Tree]:
    """The containers of its pods, as far as they are known."""
    for kind in ("initContainers", "containers"):
        listed = (draft.pod_spec or {}).get(kind)
        for each in cast("list[object]", listed) if isinstance(listed, list) else ():
            container = _opened(each)
            if container is not None:
                yield container


def fill(tree: Tree | None, key: str, value: object) -> bool:
    """Set what nobody has set."""
    if tree is None or tree.get(key) is not None:
        return False
    tree[key] = value
    return True


def _opened(value: object) -> Tree | None:
    """A mapping, out of its envelope if the whole of it is secret."""
    if not isinstance(value, dict):
        return None
    tree = cast("Tree", value)
    if tree.get(SPECIAL_SIG_KEY) == SPECIAL_SECRET_SIG:
        return _opened(tree.get("value"))
    return None if SPECIAL_SIG_KEY in tree else tree
