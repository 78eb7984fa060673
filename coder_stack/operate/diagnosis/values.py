"""Values out of the engine's events: found by property path, masked, and written for people.

The engine masks secrets itself. Fields that are known to hold one are masked here as well, because
the engine does not know about a value that somebody else wrote there.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from coder_stack.descriptors import DESCRIPTORS

ABSENT = object()
# How the engine writes what it will only know during an update, and what it must not show.
_UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SIGNATURE, _SECRET = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
_MASKED = "[secret]"
_SECRET_FIELDS = {
    "Secret": ("data", "stringData"),
    **{each.name: (*each.secret_outputs, *each.secret_inputs) for each in DESCRIPTORS.values()},
}
_PART = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)')
_LONGEST = 300


def keys_of(path: str) -> list[str | int]:
    """`spec.containers[0]["a.b"]` as its steps."""
    return [
        int(index) if index else plain or re.sub(r"\\(.)", r"\1", quoted)
        for quoted, index, plain in _PART.findall(path)
    ]


def find(properties: object, path: str) -> object:
    """Return the value at that path, or ABSENT. Below a masked value, return the mask."""
    value = properties
    for key in keys_of(path):
        if _masked(value):
            return value
        if isinstance(value, Mapping):
            value = cast("Mapping[Any, object]", value).get(key, ABSENT)
        elif isinstance(value, Sequence) and not isinstance(value, str) and isinstance(key, int):
            items = cast("Sequence[object]", value)
            value = items[key] if key < len(items) else ABSENT
        else:
            return ABSENT
    return value


def is_secret(kind: str, path: str, *values: object) -> bool:
    """By its place in a resource of that kind, or by a mark anywhere in a value."""
    place = next((key for key in keys_of(path) if isinstance(key, str)), "")
    return place in _SECRET_FIELDS.get(kind, ()) or any(_holds(each, _masked) for each in values)


def is_unknown(value: object) -> bool:
    """Not known before an update, in whole or in part."""
    return _holds(value, _open)


def shown(value: object) -> str | None:
    """As text; None if there is nothing."""
    if value is ABSENT or value is None:
        return None
    if is_unknown(value):
        return "(known after the next update)"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _open(value: object) -> bool:
    return isinstance(value, str) and _UNKNOWN in value


def _masked(value: object) -> bool:
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value).get(_SIGNATURE) == _SECRET
    return value == _MASKED


def _holds(value: object, test: Callable[[object], bool]) -> bool:
    if test(value):
        return True
    if isinstance(value, Mapping):
        return any(_holds(each, test) for each in cast("Mapping[Any, object]", value).values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return any(_holds(each, test) for each in cast("Sequence[object]", value))
    return False
