"""What goes back to the client: status, headers, and JSON the way Go's encoder writes it."""

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
class Answer:
    """One HTTP response before it is sent."""

    status: int
    body: bytes = b""
    headers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def as_json(status: int, value: object) -> Answer:
    """Compact JSON with a trailing newline; a nil slice is `null`, as in coderd."""
    return Answer(status, encode(value), [("Content-Type", JSON_TYPE)])


def message(status: int, text: str) -> Answer:
    """The usual small body with nothing but a message."""
    return as_json(status, {"message": text})


def plain(status: int, text: str) -> Answer:
    """Plain text, as Go's http.Error sends it."""
    return Answer(status, text.encode(), [("Content-Type", "text/plain; charset=utf-8")])


def refused(refusal: RefusalError) -> Answer:
    """An error body: empty fields are left out."""
    body: dict[str, object] = {"message": refusal.message}
    if refusal.detail:
        body["detail"] = refusal.detail
    if refusal.faults:
        body["validations"] = [{"field": f.field, "detail": f.detail} for f in refusal.faults]
    answer = as_json(refusal.status, body)
    answer.headers.extend(refusal.headers)
    return answer


def encode(value: object) -> bytes:
    """Go's encoding/json with HTML escaping."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char, escape in _ESCAPES.items():
        if char in text:
            text = text.replace(char, escape)
    return f"{text}\n".encode()
