"""Property values: JSON with secrets and unknowns.

Decoding keeps secrets wrapped. Only `reveal` unwraps them, and only `carry_secrets` wraps outputs.
"""

from typing import Any, Final, TypeAlias, cast

# The engine's markers of special values (sdk/go/common/resource/sig).
SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
SECRET_SIGNATURE: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a protocol constant
# Unknowns of all types (string, number, map, …) are one of these strings.
UNKNOWN_STRINGS: Final = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    }
)
UNKNOWN_STRING: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


class Unknown:
    """A value that is known only after the update. The only instance is `UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


class Secret:
    """A secret value, which its repr does not contain."""

    def __init__(self, value: "Value") -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.value == other.value

    __hash__ = None  # pyright: ignore[reportAssignmentType] - holds mutable trees


Value: TypeAlias = (
    "dict[str, Value] | list[Value] | str | int | float | bool | Unknown | Secret | None"
)
Object: TypeAlias = dict[str, "Value"]


def decode(struct: Any) -> Object:
    """Convert a protobuf Struct; drop null values, and make whole numbers ints."""
    fields: Any = struct.fields
    tree: Object = {}
    for key in fields:
        value = _decode_value(fields[key])
        if value is not None:
            tree[str(key)] = value
    return tree


def _decode_value(wire: Any) -> Value:
    kind: str | None = wire.WhichOneof("kind")
    if kind == "string_value":
        text: str = wire.string_value
        return UNKNOWN if text in UNKNOWN_STRINGS else text
    if kind == "number_value":
        number: float = wire.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return bool(wire.bool_value)
    if kind == "list_value":
        return [_decode_value(item) for item in wire.list_value.values]
    if kind == "struct_value":
        fields: Any = wire.struct_value.fields
        if SIGNATURE in fields and fields[SIGNATURE].string_value == SECRET_SIGNATURE:
            return Secret(_decode_value(fields["value"]))
        return decode(wire.struct_value)
    return None


def encode(tree: Object) -> dict[str, Any]:
    """Convert an object for a protobuf Struct; drop null values."""
    return {key: encode_value(value) for key, value in tree.items() if value is not None}


def encode_value(value: Value) -> Any:
    """Convert a value for a protobuf Struct."""
    if isinstance(value, Unknown):
        return UNKNOWN_STRING
    if isinstance(value, Secret):
        return {SIGNATURE: SECRET_SIGNATURE, "value": encode_value(value.value)}
    if isinstance(value, dict):
        return encode(value)
    if isinstance(value, list):
        return [encode_value(item) for item in value]
    return value


def reveal(value: Value) -> Value:
    """Return a copy without secret wrappers."""
    if isinstance(value, Secret):
        return reveal(value.value)
    if isinstance(value, dict):
        return {key: reveal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [reveal(item) for item in value]
    return value


def reveal_object(tree: Object) -> Object:
    """Return a copy of an object without secret wrappers."""
    return {key: reveal(item) for key, item in tree.items()}


def has_unknown(value: Value) -> bool:
    """Return whether any value in the tree is unknown."""
    if isinstance(value, Secret):
        return has_unknown(value.value)
    if isinstance(value, dict):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return isinstance(value, Unknown)


def has_secret(value: Value) -> bool:
    """Return whether any value in the tree is secret."""
    if isinstance(value, dict):
        return any(has_secret(item) for item in value.values())
    if isinstance(value, list):
        return any(has_secret(item) for item in value)
    return isinstance(value, Secret)


def carry_secrets(outgoing: Object, known: Object) -> Object:
    """Mark in `outgoing` what is secret in `known`, and always the data of a Secret.

    A list that contains a secret becomes secret as a whole, because the server may reorder it.
    """
    if outgoing.get("kind") == "Secret":
        return {
            key: Secret(value)
            if key in {"data", "stringData"} and not isinstance(value, Secret)
            else value
            for key, value in outgoing.items()
        }
    marked = dict(outgoing)
    for key, source in known.items():
        if key not in marked:
            continue
        target = marked[key]
        if isinstance(target, dict) and isinstance(source, dict):
            marked[key] = carry_secrets(target, source)
        elif not isinstance(target, Secret) and has_secret(source):
            marked[key] = Secret(target)
    return marked


def dig(value: Value, *path: str) -> Value:
    """Return the value at a path of keys, or None."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def as_object(value: Value) -> Object:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Value) -> list[Value]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Value) -> str:
    """Return the value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_int(value: Value, default: int = 0) -> int:
    """Return the value if it is a whole number, else the default."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def from_json(parsed: Any) -> Object:
    """Return the result of `json.loads` if it is an object, else an empty one."""
    return cast("Object", parsed) if isinstance(parsed, dict) else {}
