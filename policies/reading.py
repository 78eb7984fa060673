"""A resource's properties as a rule reads them: any of them may be missing, or not known yet.

`Node` is a place in the properties; it knows its path and is read only when asked for its value.
An unknown value raises pulumi-policy's own error there. `Look` catches it and goes on, so that one
unknown value hides no violation beside it, and hands it to the engine at the end.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, cast

from pulumi_policy.proxy import UnknownValueError

__all__ = ["Fault", "Look", "Node", "Resource"]


@dataclass(frozen=True)
class Resource:
    """One resource of the stack, with its inputs (resource rules) or outputs (stack rules)."""

    type: str
    name: str
    urn: str
    bag: Mapping[str, Any] = field(repr=False)
    secret_outputs: Sequence[str] = ()
    fed_by: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Property → URNs of the resources that its value came from. Stack rules only."""

    @property
    def kind(self) -> str:
        """The last part of the type, e.g. `Deployment`."""
        return self.type.rpartition(":")[2]

    @property
    def ancestors(self) -> list[str]:
        """Types of the components around it, outermost first; the stack itself is not one."""
        return self.urn.split("::")[2].split("$")[:-1] if "::" in self.urn else []

    @property
    def props(self) -> "Node":
        """The root of its properties."""
        return Node(self, "", self.bag)


@dataclass(frozen=True)
class Fault:
    """What is wrong at which place. `fix` says both, and never a value."""

    resource: Resource
    path: str
    fix: str

    @property
    def message(self) -> str:
        """As the engine prints it below the rule's description."""
        return f'{self.resource.kind} "{self.resource.name}": {self.path}: {self.fix}'


class Node:
    """A place in the properties; reading it may raise UnknownValueError."""

    def __init__(
        self, resource: Resource, path: str, holder: object, key: str | int | None = None
    ) -> None:
        self.resource = resource
        self.path = path
        self._holder = holder
        self._key = key

    def __getitem__(self, key: str) -> "Node":
        """A property below this one, whether it is there or not."""
        return Node(self.resource, f"{self.path}.{key}" if self.path else key, self, key)

    def at(self, *keys: str) -> "Node":
        """Several steps down."""
        node = self
        for key in keys:
            node = node[key]
        return node

    @property
    def value(self) -> Any:
        """What is there; None if nothing is."""
        holder = self._holder.value if isinstance(self._holder, Node) else self._holder
        if self._key is None:
            return holder
        if isinstance(holder, str) or not isinstance(holder, Mapping | Sequence):
            return None
        try:
            return cast("Any", holder)[self._key]
        except (KeyError, IndexError, TypeError):
            return None

    @property
    def text(self) -> str:
        """Its text; empty if there is none."""
        value = self.value
        return value if isinstance(value, str) else ""

    @property
    def number(self) -> int | None:
        """Its number; the wire makes floats of all of them."""
        value = self.value
        return int(value) if isinstance(value, int | float) else None

    def each(self) -> list["Node"]:
        """What is in a list or a mapping; each is read on its own."""
        value = self.value
        if isinstance(value, Mapping):
            return [self[str(key)] for key in cast("Mapping[object, object]", value)]
        if isinstance(value, Sequence) and not isinstance(value, str):
            size = len(cast("Sequence[object]", value))
            return [Node(self.resource, f"{self.path}[{i}]", self, i) for i in range(size)]
        return []

    def mapping(self) -> dict[str, Any]:
        """All of a mapping, every value known."""
        value = self.value
        return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}

    @property
    def key(self) -> str:
        """The name of this property in its mapping."""
        return str(self._key)

    def fault(self, fix: str) -> Fault:
        """Something is wrong here."""
        return Fault(self.resource, self.path, fix)


class Look:
    """`with look:` around the reading of one place; what is unknown is noted and passed over."""

    def __init__(self) -> None:
        self._first: UnknownValueError | None = None

    def __enter__(self) -> None:
        """Begin to read."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Go on after what is unknown, and only after that."""
        if not isinstance(error, UnknownValueError):
            return False
        self._first = self._first or error
        return True

    def each(self, node: Node) -> Iterator[Node]:
        """The children of a node; none if it is unknown itself."""
        with self:
            yield from node.each()

    def finish(self) -> None:
        """Tell the engine of the first unknown value: then it says that the rule saw not all."""
        if self._first is not None:
            raise self._first
