"""One request to coderd as data: operation, path, body, and the status codes of success.

Pure. The endpoints build requests, transport.py sends them, interpret.py reads the responses, and
retry.py decides whether to repeat them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import SecretStr

from coder_stack.coderd.errors import Credential, InvalidRequest


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
    """The licensed feature that the route needs."""
    repeatable: bool = False
    """Whether a POST or PATCH may arrive twice without harm."""

    def __post_init__(self) -> None:
        for text in (*self.path, *self.query.values()):
            # HTTP libraries remove `.` and `..`: the request would reach another route.
            if text in ("", ".", "..") or not _encodable(text):
                why = "a name in it is empty, `.`, `..` or not text; choose another name."
                raise InvalidRequest(self.operation, why)

    @property
    def changes_something(self) -> bool:
        """Tell whether coderd's state is in doubt if the response is lost."""
        return self.method != "GET"

    @property
    def idempotent(self) -> bool:
        """Tell whether arriving twice is the same as arriving once (U2)."""
        return self.method in ("GET", "DELETE") or self.repeatable

    @property
    def credential(self) -> Credential:
        """Return the kind of credential that a 401 refuses."""
        if self.auth == "key":
            return "provisioner key"
        return "password" if self.body is not None and "password" in self.body else "session token"

    @property
    def carries_secret(self) -> bool:
        """Tell whether anything in it must be encrypted on the network."""
        if self.auth in ("key", "token"):
            return True
        return any(isinstance(value, SecretStr) for value in (self.body or {}).values())


def quoted(name: object) -> str:
    """Quote a name for a message: on one line, and cut to 80 characters."""
    text = "".join(c if c.isprintable() else "?" for c in str(name))
    return f'"{text[:80]}"'


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
