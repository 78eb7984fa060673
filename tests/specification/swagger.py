"""A Swagger 2.0 document, as far as Coder's use it: paths, parameters and schemas. Pure.

A problem names the place in the document where a value or a model disagrees with it, such as
`codersdk.APIKey.scopes`; exceptions.py refers to these names.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

Schema = Mapping[str, Any]
Path = tuple[str | int, ...]
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_SAMPLES = {
    ("string", "uuid"): "5f0f4a44-7d1e-4a7c-9d3c-0d7f7f0c1b11",
    ("string", "date-time"): "2030-01-01T00:00:00Z",
    "string": "text",
    "integer": 7,
    "number": 7.5,
    "boolean": True,
}


class Problem(NamedTuple):
    """What is wrong, and where in the document."""

    at: str
    what: str

    def __str__(self) -> str:
        return f"{self.at} {self.what}"


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    name: str
    """Such as `GET /users/{user}`."""
    query: Mapping[str, Schema]
    required_query: Collection[str]
    body: Schema | None
    answers: Mapping[int, Schema | None]
    """The schema of each documented success, None if it has no body."""


@dataclass(frozen=True)
class Document:
    """The API of one version of Coder."""

    version: str
    content: Mapping[str, Any] = field(repr=False)

    def operation(
        self, method: str, path: str, values: Collection[str] | None = None
    ) -> Operation | None:
        """Find an operation by the path of a request, as Coder's router does: literals first.

        With `values`, a segment fills a parameter of the path only if it is one of them.
        """
        base = self.content.get("basePath", "")
        segments = path.removeprefix(base).split("/") if path.startswith(base) else None
        best = None
        for template, methods in self.content["paths"].items():
            if segments is None or method.lower() not in methods:
                continue
            filled = _filled(template.split("/"), segments)
            if filled is None or (values is not None and not set(filled) <= set(values)):
                continue
            if best is None or len(filled) < best[0]:
                best = (len(filled), template)
        if best is None:
            return None
        found = self.content["paths"][best[1]][method.lower()]
        return _operation(f"{method} {best[1]}", found)

    def resolve(self, schema: Schema, at: str = "") -> tuple[str, Schema]:
        """Follow references; return the name of the last one, else `at`, and the schema."""
        rest = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        for each in (*schema.get("allOf", ()), *([schema] if "$ref" in schema else ())):
            if "$ref" in each:
                name = each["$ref"].removeprefix("#/definitions/")
                at, found = self.resolve(self.content["definitions"][name], name)
                rest = {**found, **rest}
        return at, rest

    def mismatches(
        self, value: object, schema: Schema, at: str, *, nulls: bool
    ) -> Iterator[Problem]:
        """Compare a JSON value with a schema; `nulls` as Go writes empty lists, maps, pointers."""
        name, found = self.resolve(schema, at)
        kind = found.get("type", "object" if "properties" in found else "")
        if value is None and nulls and kind in ("array", "object"):
            return
        if not kind:
            return
        if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
            yield Problem(at, f"is {kind}, not {type(value).__name__}")
        elif "enum" in found and value not in found["enum"]:
            yield Problem(at, "does not allow this value")
        elif isinstance(value, str) and not _has_format(value, found.get("format", "")):
            yield Problem(at, f"is a {found['format']}")
        elif isinstance(value, list):
            for item in value:
                yield from self.mismatches(item, found.get("items", {}), f"{at}[]", nulls=nulls)
        elif isinstance(value, dict):
            for key, item in value.items():
                inner = _property(found, key)
                if inner is None:
                    yield Problem(f"{name}.{key}", "is not documented")
                else:
                    yield from self.mismatches(item, inner, f"{name}.{key}", nulls=nulls)

    def sample(self, schema: Schema, seen: tuple[str, ...] = ()) -> Any:
        """Make a value with every documented field; None where a schema contains itself."""
        name, found = self.resolve(schema)
        if name in seen:
            return None
        seen = (*seen, name) if name else seen
        if "enum" in found:
            return found["enum"][0]
        kind = found.get("type", "object")
        if kind == "array":
            return [self.sample(found.get("items", {}), seen)]
        if kind == "object":
            more = found.get("additionalProperties")
            inner = {"any": more} if isinstance(more, Mapping) else {}
            return {
                key: self.sample(each, seen)
                for key, each in {**found.get("properties", {}), **inner}.items()
            }
        return _SAMPLES.get((kind, found.get("format", "")), _SAMPLES[kind])

    def nil_places(self, schema: Schema, seen: tuple[str, ...] = ()) -> Iterator[Path]:
        """Yield where Go may write `null` in a sample: lists and maps, which may be nil."""
        name, found = self.resolve(schema)
        if name in seen:
            return
        seen = (*seen, name) if name else seen
        more = found.get("additionalProperties")
        if found.get("type") == "array" or more:
            yield ()
        if found.get("type") == "array":
            yield from ((0, *at) for at in self.nil_places(found.get("items", {}), seen))
        inner = {"any": more} if isinstance(more, Mapping) else {}
        for key, each in {**found.get("properties", {}), **inner}.items():
            yield from ((key, *at) for at in self.nil_places(each, seen))


def _property(found: Schema, key: str) -> Schema | None:
    """Return the schema of a key; None if it is not documented."""
    more = found.get("additionalProperties", "properties" not in found)
    if key in found.get("properties", {}):
        return found["properties"][key]
    return (more if isinstance(more, Mapping) else {}) if more else None


def _filled(template: list[str], segments: list[str]) -> list[str] | None:
    """Return the segments that fill parameters; None if the path is another one."""
    if len(template) != len(segments):
        return None
    pairs = list(zip(template, segments, strict=True))
    if any(part != segment and not part.startswith("{") for part, segment in pairs):
        return None
    return [segment for part, segment in pairs if part.startswith("{")]


def _operation(name: str, found: Mapping[str, Any]) -> Operation:
    parameters = found.get("parameters", ())
    query = {each["name"]: each for each in parameters if each["in"] == "query"}
    bodies = [each["schema"] for each in parameters if each["in"] == "body"]
    return Operation(
        name,
        query,
        [key for key, each in query.items() if each.get("required")],
        bodies[0] if bodies else None,
        {
            int(status): each.get("schema")
            for status, each in found["responses"].items()
            if re.fullmatch("2..", status)
        },
    )


def _has_format(value: str, kind: str) -> bool:
    parse = {"uuid": UUID, "date-time": datetime.fromisoformat}.get(kind)
    try:
        return parse is None or bool(parse(value))
    except ValueError:
        return False
