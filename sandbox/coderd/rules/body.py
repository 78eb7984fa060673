"""Decode and validate request bodies as Go's decoder and coderd's validator do.

Unknown fields are ignored, `null` is the zero value, field names match in any case, only the first
JSON value counts. coderd reports a wrong type as invalid JSON, and all invalid values together.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from sandbox.coderd.rules import names
from sandbox.coderd.rules.identifiers import NIL_UUID, as_uuid
from sandbox.coderd.rules.refusal import FieldFault, RefusalError, validation

STRING, BOOL, DURATION, STRINGS, MAPPING, UUID, MAPPINGS = (
    "string",
    "bool",
    "time.Duration",
    "[]string",
    "map[string]string",
    "uuid.UUID",
    "[]map",
)
# Python's error messages for invalid JSON, and Go's.
_JSON_ERRORS = (
    ("Expecting property name", "looking for beginning of object key string"),
    ("Illegal trailing comma before end of object", "looking for beginning of object key string"),
    ("Expecting ':'", "after object key"),
    ("Expecting ','", "after object key:value pair"),
    ("", "looking for beginning of value"),
)
_ZERO: dict[str, object] = {STRING: "", BOOL: False, DURATION: 0, UUID: NIL_UUID}
_CHECKS: dict[str, Callable[[str], bool]] = {
    "required": lambda value: value not in {"", NIL_UUID},
    "email": names.is_email,
    "username": names.is_name,
    "organization_name": names.is_name,
    "organization_display_name": names.is_display_name,
    "user_real_name": names.is_real_name,
}


@dataclass(frozen=True)
class Field:
    """A field of a request: its JSON name, its type, its validator tags in order."""

    name: str
    kind: str = STRING
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class RequestType:
    """A request type, named as in coderd, whose errors contain the name."""

    name: str
    fields: tuple[Field, ...]


class Body:
    """A decoded request; absent fields have their zero value."""

    def __init__(self, values: dict[str, object], given: frozenset[str]) -> None:
        self._values = values
        self._given = given

    def has(self, name: str) -> bool:
        """Return whether the field was sent and is not null."""
        return name in self._given

    def text(self, name: str) -> str:
        """Return a string or UUID field."""
        return cast("str", self._values[name])

    def flag(self, name: str) -> bool:
        """Return a boolean field."""
        return cast("bool", self._values[name])

    def number(self, name: str) -> int:
        """Return an integer field."""
        return cast("int", self._values[name])

    def texts(self, name: str) -> list[str]:
        """Return a list of strings; empty if absent."""
        return list(cast("list[str] | None", self._values[name]) or [])

    def mapping(self, name: str) -> dict[str, str]:
        """Return a map of strings; empty if absent."""
        return dict(cast("dict[str, str] | None", self._values[name]) or {})

    def mappings(self, name: str) -> list[dict[str, str]]:
        """Return a list of maps of strings; empty if absent."""
        return [
            dict(item) for item in cast("list[dict[str, str]] | None", self._values[name]) or []
        ]


def read(raw: bytes, type_: RequestType) -> Body:
    """Decode and validate, or refuse as coderd does."""
    sent = _decode(raw, type_)
    values: dict[str, object] = {}
    given: set[str] = set()
    for field in type_.fields:
        value = sent.get(field.name.lower())
        if value is None:
            values[field.name] = _ZERO.get(field.kind)
            continue
        values[field.name] = _typed(value, field, type_)
        given.add(field.name)
    faults = [fault for field in type_.fields if (fault := _fault(field, values[field.name]))]
    if faults:
        raise validation(*faults)
    return Body(values, frozenset(given))


def _decode(raw: bytes, type_: RequestType) -> dict[str, object]:
    text = raw.decode("utf-8", "replace").lstrip(" \t\r\n")
    if not text:
        raise _not_json("EOF")
    try:
        parsed: object = json.JSONDecoder().raw_decode(text)[0]
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()):
            raise _not_json("unexpected EOF") from error
        where = next(go for ours, go in _JSON_ERRORS if error.msg.startswith(ours))
        raise _not_json(f"invalid character '{text[error.pos]}' {where}") from error
    if parsed is None:
        return {}
    if not isinstance(parsed, dict):
        raise _not_json(
            f"json: cannot unmarshal {_kind_of(parsed)} into Go value of type codersdk.{type_.name}"
        )
    return {name.lower(): value for name, value in cast("dict[str, object]", parsed).items()}


def _typed(value: object, field: Field, type_: RequestType) -> object:
    if field.kind == UUID and isinstance(value, str):
        parsed = as_uuid(value)
        if parsed is None:
            raise _not_json(
                f"invalid UUID length: {len(value)}" if len(value) != 36 else "invalid UUID format"
            )
        return parsed
    if _fits(value, field.kind):
        return value
    where = f"{type_.name}.{field.name} of type {field.kind}"
    # coderd's message contains the value only if it is a number.
    number = f" {value}" if field.kind == DURATION and isinstance(value, int | float) else ""
    raise _not_json(
        f"json: cannot unmarshal {_kind_of(value)}{number} into Go struct field {where}"
    )


def _fits(value: object, kind: str) -> bool:
    if kind == STRING:
        return isinstance(value, str)
    if kind == BOOL:
        return isinstance(value, bool)
    if kind == DURATION:
        return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    if kind == STRINGS:
        return isinstance(value, list) and all(
            isinstance(v, str) for v in cast("list[object]", value)
        )
    if kind == MAPPING:
        return _is_mapping(value)
    if kind == MAPPINGS:
        return isinstance(value, list) and all(_is_mapping(v) for v in cast("list[object]", value))
    return False


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(v, str) for v in cast("dict[str, object]", value).values()
    )


def _kind_of(value: object) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "string"


def _fault(field: Field, value: object) -> FieldFault | None:
    text = value if isinstance(value, str) else ""
    for tag in field.tags:
        if tag == "omitempty":
            if not text:
                return None
        elif not _CHECKS[tag](text):
            return FieldFault(field.name, f'Validation failed for tag "{tag}" with value: "{text}"')
    return None


def _not_json(detail: str) -> RefusalError:
    return RefusalError(400, "Request body must be valid JSON.", detail)
