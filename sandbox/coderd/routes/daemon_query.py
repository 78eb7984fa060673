"""Parse the query of the daemon list; report all invalid parameters at once."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar, cast

from starlette.datastructures import QueryParams

from sandbox.coderd.rules.daemons import Filter
from sandbox.coderd.rules.go_text import parse_bool, parse_duration, parse_int32, quoted
from sandbox.coderd.rules.identifiers import as_uuid
from sandbox.coderd.rules.refusal import FieldFault, RefusalError

_BY_STATUS = ("offline", "status", "max_age")
_PARAMETERS = ("limit", "ids", "tags", *_BY_STATUS)
_STATUSES = ("offline", "idle", "busy")
_T = TypeVar("_T")


class _Reader:
    """Reads parameters and collects their errors."""

    def __init__(self, query: QueryParams) -> None:
        self._query = query
        self.faults: list[FieldFault] = []

    def read(self, name: str, what: str, parse: Callable[[str], _T], default: _T) -> _T:
        text = self._query.get(name)
        if not text:
            return default
        try:
            return parse(text)
        except ValueError as error:
            self.faults.append(FieldFault(name, f"Query param {quoted(name)} {what}: {error}"))
            return default


def read_filter(query: QueryParams, *, by_status: bool = True) -> Filter:
    """Return the filter of a query, or refuse with all invalid parameters."""
    unknown = [n for n in query if n not in _PARAMETERS or (n in _BY_STATUS and not by_status)]
    query = QueryParams([each for each in query.multi_items() if each[0] not in unknown])
    reader = _Reader(query)
    limit = reader.read("limit", "must be a valid 32-bit positive integer", _positive, 50)
    ids = reader.read("ids", "has invalid values", _identifiers, ())
    tags = reader.read("tags", "must be a valid JSON object", _tags, None)
    offline = reader.read("offline", "must be a valid boolean", _flag, None)
    statuses = tuple(filter(None, query.get("status", "").split(",")))
    duration = "must be a valid duration (e.g., '24h', '30m', '1h30m')"
    max_age = reader.read("max_age", duration, _duration, timedelta())
    reader.faults.extend(
        FieldFault(name, f"{quoted(name)} is not a valid query param") for name in unknown
    )
    if reader.faults:
        raise RefusalError(400, "Invalid query parameters.", faults=tuple(reader.faults))
    for status in statuses:
        if status not in _STATUSES:
            # In coderd, the database reports it.
            kind = "provisioner_daemon_status"
            detail = f"fetch object: pq: invalid input value for enum {kind}: {quoted(status)}"
            raise RefusalError(500, "Internal error fetching provisioner daemons.", detail)
    return Filter(limit, ids, tags, offline, statuses, max_age)


def _positive(text: str) -> int:
    value = parse_int32(text)
    if value < 0:
        raise ValueError("value is negative")
    return value


def _identifiers(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for item in text.split(","):
        identifier = as_uuid(item.strip())
        if identifier is None:
            length = len(item.strip())
            raise ValueError(
                "invalid UUID format" if length == 36 else f"invalid UUID length: {length}"
            )
        found.append(identifier)
    return tuple(found)


def _tags(text: str) -> dict[str, str] | None:
    try:
        parsed: object = json.loads(text)
    except ValueError as error:
        what = f"invalid character '{text[0]}' looking for beginning of value"
        raise ValueError(what) from error
    if not isinstance(parsed, dict):
        kind = "array" if isinstance(parsed, list) else "string"
        raise ValueError(f"json: cannot unmarshal {kind} into Go value of type map[string]string")  # noqa: TRY004
    return {str(n): str(v) for n, v in cast("dict[object, object]", parsed).items()}


def _flag(text: str) -> bool | None:
    return parse_bool(text)


def _duration(text: str) -> timedelta:
    return timedelta(seconds=parse_duration(text))
