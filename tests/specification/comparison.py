"""Compare what the client sends and reads with a document. Pure.

Swagger 2.0 knows no null, and Coder's documents rarely say which fields of an answer are always
there. So a field that a model cannot do without must be `required` in the document or be listed in
exceptions.py, and every list and map may be null, as Go writes nil.
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
from pydantic import ValidationError

from coder_stack.coderd.errors import CoderdError
from tests.specification.answers import Answer
from tests.specification.calls import Call, client
from tests.specification.exceptions import PLACEHOLDERS
from tests.specification.swagger import Document, Operation, Path, Problem, Schema


def differences(call: Call, document: Document) -> Iterator[Problem]:
    """Yield everything in which a call differs from the document."""
    operation = document.operation(call.method, call.path, {*call.values, *PLACEHOLDERS})
    if operation is None:
        yield Problem(f"{call.method} {call.path}", "is not documented")
        return
    yield from _problems_of_query(call, document, operation)
    yield from _problems_of_body(call, document, operation)
    for status in sorted({*call.success, *operation.answers}):
        if status not in operation.answers:
            yield Problem(operation.name, f"has no status {status}, which the client expects")
        elif status not in call.success:
            yield Problem(operation.name, f"has status {status}, which the client does not expect")
    for status, schema in _answers(call, operation):
        at = f"{operation.name} {status}"
        if call.shape is not None and schema is None:
            yield Problem(at, "has no body, which the client reads")
        elif call.shape is not None and schema is not None:
            ours = call.shape.json_schema()
            yield from _unlike(ours, ours.get("$defs", {}), document, schema, at)


def unreadable(call: Call, document: Document) -> Iterator[Problem]:
    """Yield the documented answers that the client cannot read, with every possible null."""
    operation = document.operation(call.method, call.path, {*call.values, *PLACEHOLDERS})
    for status, schema in _answers(call, operation) if operation else ():
        sample = document.sample(schema) if schema is not None else None
        at = f"{operation.name} {status}" if operation else ""
        try:
            call.invoke(client(_always(status, sample, document.version)))
        except CoderdError as error:
            yield Problem(at, f"cannot be read: {error.reason}")
        if schema is None or call.shape is None:
            continue
        for place in document.nil_places(schema):
            try:
                call.shape.validate_json(json.dumps(_with_null(sample, place)))
            except ValidationError:
                yield Problem(f"{at} {'.'.join(map(str, place))}", "may be null, and is not read")


def problems_of_answer(answer: Answer, document: Document) -> Iterator[Problem]:
    """Yield everything in which an answer of the simulation differs from the document."""
    operation = document.operation(answer.method, answer.path)
    if operation is None:
        path = answer.path.removeprefix("/api/v2")
        yield Problem(f"{answer.method} {path}", "is not documented")
    elif answer.status not in operation.answers:
        yield Problem(operation.name, f"has no status {answer.status}")
    else:
        schema = operation.answers[answer.status]
        if schema is not None:
            at = f"{operation.name} {answer.status}"
            yield from document.mismatches(answer.value, schema, at, nulls=True)
        elif answer.value is not None:
            yield Problem(operation.name, "has no body, and the simulation sends one")


def _answers(call: Call, operation: Operation) -> list[tuple[int, Schema | None]]:
    """Return the answers that client and document agree on.

    One of several without a body is for the method itself, which does not read it then.
    """
    agreed = [(status, operation.answers.get(status)) for status in sorted(call.success)]
    documented = [(status, each) for status, each in agreed if status in operation.answers]
    several = len(documented) > 1
    return [(status, each) for status, each in documented if each is not None or not several]


def _problems_of_query(call: Call, document: Document, operation: Operation) -> Iterator[Problem]:
    for name, text in call.query.items():
        at = f"{operation.name} ?{name}"
        if name not in operation.query:
            yield Problem(at, "is not documented")
            continue
        schema = operation.query[name]
        value = int(text) if schema["type"] == "integer" and text.isdigit() else text
        yield from document.mismatches(value, schema, at, nulls=False)
    for name in operation.required_query:
        if name not in call.query:
            yield Problem(f"{operation.name} ?{name}", "is required, and is not sent")


def _problems_of_body(call: Call, document: Document, operation: Operation) -> Iterator[Problem]:
    at = f"{operation.name} body"
    if (call.body is None) != (operation.body is None):
        sent = "is not documented" if operation.body is None else "is not sent"
        yield Problem(at, sent)
    elif operation.body is not None:
        yield from document.mismatches(call.body, operation.body, at, nulls=False)
        name, found = document.resolve(operation.body, at)
        for field in found.get("required", ()):
            if field not in call.body:
                yield Problem(f"{name}.{field}", "is required, and is not sent")


def _unlike(
    ours: Schema, defs: Mapping[str, Schema], document: Document, theirs: Schema, at: str
) -> Iterator[Problem]:
    """Walk through a model's schema and the document's beside each other."""
    ours = _resolved(ours, defs)
    name, found = document.resolve(theirs, at)
    kind, wanted = found.get("type", "object"), ours.get("type", "")
    if not wanted:
        return  # any JSON
    if kind != wanted:
        yield Problem(at, f"is {kind}, the client reads {wanted}")
    elif ours.get("format") in ("uuid", "date-time") and found.get("format") != ours["format"]:
        yield Problem(at, f"is any {kind}, the client reads a {ours['format']}")
    elif kind == "array":
        yield from _unlike(ours["items"], defs, document, found.get("items", {}), f"{at}[]")
    elif kind == "object" and "properties" not in ours:
        inner = found.get("additionalProperties")
        if not inner:
            yield Problem(at, "is no map, the client reads one")
        elif isinstance(inner, Mapping) and isinstance(ours["additionalProperties"], Mapping):
            yield from _unlike(ours["additionalProperties"], defs, document, inner, f"{at}{{}}")
    elif kind == "object":
        for field, each in ours["properties"].items():
            if field not in found.get("properties", {}):
                yield Problem(f"{name}.{field}", "is read, but not documented")
                continue
            if field in ours.get("required", ()) and field not in found.get("required", ()):
                yield Problem(f"{name}.{field}", "is needed, but not required")
            inner = found["properties"][field]
            yield from _unlike(each, defs, document, inner, f"{name}.{field}")


def _resolved(ours: Schema, defs: Mapping[str, Schema]) -> Schema:
    for each in ours.get("anyOf", ()):
        if each.get("type") != "null":
            return _resolved(each, defs)
    if "$ref" in ours:
        return _resolved(defs[ours["$ref"].removeprefix("#/$defs/")], defs)
    return ours


def _always(status: int, value: Any, version: str) -> Callable[[httpx.Request], httpx.Response]:
    """Answer every request with a JSON value, or with no body."""
    content = b"" if value is None else json.dumps(value).encode()
    headers = {"X-Coder-Build-Version": version}
    return lambda _: httpx.Response(status, content=content, headers=headers)


def _with_null(sample: Any, place: Path) -> Any:
    if not place:
        return None
    changed = copy.deepcopy(sample)
    holder = changed
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = None
    return changed
