"""Responses, with JSON as Go's encoder writes it."""

import json
from dataclasses import dataclass, field

from sandbox.coderd.rules.refusal import RefusalError

_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
JSON_TYPE = "application/json; charset=utf-8"


@dataclass
class HttpResponse:
    """An HTTP response."""

    status: int
    body: bytes = b""
    headers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def as_json(status: int, value: object) -> HttpResponse:
    """Build a JSON response; coderd writes an empty list as `null`."""
    return HttpResponse(status, encode(value), [("Content-Type", JSON_TYPE)])


def message(status: int, text: str) -> HttpResponse:
    """Build a response with a message only."""
    return as_json(status, {"message": text})


def plain(status: int, text: str) -> HttpResponse:
    """Build a plain text response, as Go's http.Error does."""
    return HttpResponse(status, text.encode(), [("Content-Type", "text/plain; charset=utf-8")])


def refused(refusal: RefusalError) -> HttpResponse:
    """Build an error response without empty fields."""
    body: dict[str, object] = {"message": refusal.message}
    if refusal.detail:
        body["detail"] = refusal.detail
    if refusal.faults:
        body["validations"] = [{"field": f.field, "detail": f.detail} for f in refusal.faults]
    response = as_json(refusal.status, body)
    response.headers.extend(refusal.headers)
    return response


def encode(value: object) -> bytes:
    """Encode as Go's encoding/json does, with HTML escaping."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char, escape in _ESCAPES.items():
        if char in text:
            text = text.replace(char, escape)
    return f"{text}\n".encode()
