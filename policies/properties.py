"""A resource's properties as a rule reads them: any of them may be missing or unknown.

`Property` is a path, and reads its value only when asked. An unknown value raises pulumi-policy's
UnknownValueError. `KnownValues` catches it so that the rule goes on with the other properties, and
raises it for the engine at the end.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pulumi_policy.proxy import UnknownValueError


@dataclass(frozen=True)
class Resource:
    """One resource of the stack: its inputs in resource rules, its outputs in stack rules."""

    type: str
    name: str
    urn: str
    properties: Mapping[str, Any] = field(repr=False)
    secret_outputs: Sequence[str] = ()
    property_dependencies: Mapping[str, Sequence[str]] = field(
        default_factory=dict[str, Sequence[str]]
    )
    """Property → URNs of the resources that its value depends on. Stack rules only."""
    provider: str = ""
    """URN of its provider, which stands for its cluster. Stack rules only."""

    @property
    def kind(self) -> str:
        """Return the last part of the type, such as `Deployment`."""
        return self.type.rpartition(":")[2]

    @property
    def ancestors(self) -> list[str]:
        """Return the types of its parent components, outermost first, without the stack."""
        return self.urn.split("::")[2].split("$")[:-1] if "::" in self.urn else []

    @property
    def props(self) -> "Property":
        """Return the root of its properties."""
        return Property(self, "", self.properties)

    def sources_of(self, *names: str) -> list[str]:
        """Return the URNs that these properties depend on."""
        return [urn for name in names for urn in self.property_dependencies.get(name, ())]


@dataclass(frozen=True)
class Violation:
    """A violation of a rule at one property. `fix` never contains a value."""

    resource: Resource
    path: str
    fix: str

    @property
    def message(self) -> str:
        """Return the text that the engine prints below the rule's description."""
        return f'{self.resource.kind} "{self.resource.name}": {self.path}: {self.fix}'


class Property:
    """The path of a property; reading its value may raise UnknownValueError."""

    def __init__(
        self, resource: Resource, path: str, holder: object, key: str | int | None = None
    ) -> None:
        self.resource = resource
        self.path = path
        self._holder = holder
        self._key = key

    def __getitem__(self, key: str) -> "Property":
        """Return a child property, whether it exists or not."""
        return Property(self.resource, f"{self.path}.{key}" if self.path else key, self, key)

    def at(self, *keys: str) -> "Property":
        """Return the property at a path below this one."""
        node = self
        for key in keys:
            node = node[key]
        return node

    @property
    def value(self) -> Any:
        """Return its value; None if it does not exist."""
        holder = self._holder.value if isinstance(self._holder, Property) else self._holder
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
        """Return its value if it is a string, else an empty one."""
        value = self.value
        return value if isinstance(value, str) else ""

    @property
    def number(self) -> int | None:
        """Return its value if it is a number; the engine sends all numbers as floats."""
        value = self.value
        return int(value) if isinstance(value, int | float) else None

    def each(self) -> list["Property"]:
        """Return the items of a list or mapping without reading them."""
        value = self.value
        if isinstance(value, Mapping):
            return [self[str(key)] for key in cast("Mapping[object, object]", value)]
        if isinstance(value, Sequence) and not isinstance(value, str):
            size = len(cast("Sequence[object]", value))
            return [Property(self.resource, f"{self.path}[{i}]", self, i) for i in range(size)]
        return []

    def mapping(self) -> dict[str, Any]:
        """Return its value if it is a mapping, else an empty one."""
        value = self.value
        return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}

    @property
    def key(self) -> str:
        """Return the name of this property in its mapping."""
        return str(self._key)

    def violation(self, fix: str) -> Violation:
        """Build a violation at this property."""
        return Violation(self.resource, self.path, fix)


class KnownValues:
    """A context manager: skip the rest of the block at an unknown value, and remember it."""

    def __init__(self) -> None:
        self._first: UnknownValueError | None = None

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(self, _kind: object, error: object, _trace: object) -> bool:
        """Suppress UnknownValueError only."""
        if not isinstance(error, UnknownValueError):
            return False
        self._first = self._first or error
        return True

    def each(self, node: Property) -> Iterator[Property]:
        """Yield the items of a property; none if the property is unknown."""
        with self:
            yield from node.each()

    def raise_skipped(self) -> None:
        """Raise the first error, so that the engine says that the check is incomplete."""
        if self._first is not None:
            raise self._first
