"""Inject faults: matching requests are delayed, refused, corrupted or disconnected.

A fault has a method, a path pattern (shell wildcards) and a count. `drop_before` closes the
connection before the request is handled, `drop_after` afterwards, without a response.
"""

import fnmatch
import json
from dataclasses import asdict, dataclass, field
from typing import cast

from sandbox.coderd.responses import HttpResponse

KINDS = ("status", "delay", "drop_before", "drop_after", "garbage", "html")
_HTML = (
    b"<!doctype html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>\n"
)


class FaultError(Exception):
    """The description of a fault is invalid; the text says why."""


@dataclass
class Fault:
    """One kind of fault, and the requests that it applies to."""

    kind: str
    method: str = "*"
    path: str = "*"
    count: int = 1
    skip: int = 0
    status: int = 503
    body: object = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 1.0
    struck: int = 0

    def strikes(self, method: str, path: str) -> bool:
        """Return whether it applies to this request, and count it if so."""
        if self.method not in {"*", method} or not fnmatch.fnmatchcase(path, self.path):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.count >= 0 and self.struck >= self.count:
            return False
        self.struck += 1
        return True

    @property
    def spent(self) -> bool:
        """Return whether it applies to no further request."""
        return 0 <= self.count <= self.struck

    def response(self) -> HttpResponse:
        """Return the response to send instead of the real one."""
        headers = list(self.headers.items())
        if self.kind == "garbage":
            return HttpResponse(
                200,
                b'{"message": "cut off in the mi',
                [("Content-Type", "application/json"), *headers],
            )
        if self.kind == "html":
            status = self.status if self.status != 503 else 502
            return HttpResponse(status, _HTML, [("Content-Type", "text/html"), *headers])
        raw = self.body.encode() if isinstance(self.body, str) else b""
        kind = "text/plain; charset=utf-8"
        if self.body is not None and not isinstance(self.body, str):
            raw, kind = json.dumps(self.body).encode(), "application/json; charset=utf-8"
        return HttpResponse(self.status, raw, [("Content-Type", kind), *headers])


class Faults:
    """The active faults; the first that applies to a request wins."""

    def __init__(self) -> None:
        self._set: list[Fault] = []

    def add(self, described: object) -> None:
        """Add a description or a list of them."""
        items = cast("list[object]", described) if isinstance(described, list) else [described]
        self._set.extend([parse(item) for item in items])

    def clear(self) -> None:
        """Remove all faults."""
        self._set.clear()

    def to_json(self) -> list[dict[str, object]]:
        """Return the faults that can still apply."""
        return [asdict(fault) for fault in self._set if not fault.spent]

    def next_for(self, method: str, path: str) -> Fault | None:
        """Return the fault that applies to this request, if any."""
        return next((fault for fault in self._set if fault.strikes(method, path)), None)


def parse(described: object) -> Fault:
    """Read a fault from its JSON description."""
    if not isinstance(described, dict):
        raise FaultError("a fault is an object with at least a kind")
    given = cast("dict[str, object]", described)
    unknown = sorted(set(given) - set(Fault.__dataclass_fields__) | set(given) & {"struck"})
    if unknown:
        raise FaultError(f"a fault has no field {unknown[0]!r}")
    if given.get("kind") not in KINDS:
        raise FaultError(f"kind must be one of {', '.join(KINDS)}")
    return Fault(
        kind=cast("str", given["kind"]),
        method=str(given.get("method", "*")).upper(),
        path=str(given.get("path", "*")),
        count=_number(given, "count", 1),
        skip=_number(given, "skip", 0),
        status=_number(given, "status", 503),
        body=given.get("body"),
        headers={str(k): str(v) for k, v in _object(given, "headers").items()},
        seconds=float(_number(given, "seconds", 1)),
    )


def _number(given: dict[str, object], name: str, default: int) -> int:
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FaultError(f"{name} must be a number")
    return cast("int", value)


def _object(given: dict[str, object], name: str) -> dict[str, object]:
    value = given.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FaultError(f"{name} must be an object")
    return cast("dict[str, object]", value)
