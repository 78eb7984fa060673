"""One request to coderd as data: its name, its address, its load, and the answers that are good.

Pure: the endpoints build calls, exchange.py sends them, answers.py judges what came back, retry.py
asks whether they may be repeated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import SecretStr

from coder_stack.coderd.errors import Credential, InvalidRequest

__all__ = ["Request", "quoted"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """`operation` completes "Cannot …"; `path` are unescaped segments below the base URL."""

    operation: str
    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: tuple[str, ...]
    success: frozenset[int] = frozenset({200})
    auth: Literal["none", "token", "key"] = "token"
    key: SecretStr | None = None
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Mapping[str, object] | None = field(default=None, repr=False)
    feature: str | None = None
    """The licensed feature that gates the route."""
    repeatable: bool = False
    """A POST or PATCH that does no harm when it arrives twice."""

    def __post_init__(self) -> None:
        for text in (*self.path, *self.query.values()):
            # `.` and `..` would be folded away, and the call would reach another route.
            if text in ("", ".", "..") or not _encodable(text):
                why = "a name in it is empty, `.`, `..` or not text; choose another name."
                raise InvalidRequest(self.operation, why)

    @property
    def changes_something(self) -> bool:
        """Whether a lost answer leaves doubt about coderd's state."""
        return self.method != "GET"

    @property
    def idempotent(self) -> bool:
        """Whether arriving twice is the same as arriving once (U2)."""
        return self.method in ("GET", "DELETE") or self.repeatable

    @property
    def credential(self) -> Credential:
        """What a 401 is about."""
        if self.auth == "key":
            return "provisioner key"
        return "password" if self.body is not None and "password" in self.body else "session token"

    @property
    def carries_secret(self) -> bool:
        """Whether anything in it must not be seen on the wire."""
        if self.auth in ("key", "token"):
            return True
        return any(isinstance(value, SecretStr) for value in (self.body or {}).values())


def quoted(name: object) -> str:
    """A name as it appears in messages: bounded, one line."""
    text = "".join(c if c.isprintable() else "?" for c in str(name))
    return f'"{text[:80]}"'


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
