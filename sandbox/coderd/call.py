"""One request on its way through guards and handler, with what the guards found out about it."""

import re
from dataclasses import dataclass, field
from typing import TypeVar

from starlette.datastructures import Headers, QueryParams
from starlette.requests import cookie_parser

from sandbox.coderd.rules.permissions import Caller
from sandbox.coderd.rules.records import Organization, ProvisionerKey, Proxy, User
from sandbox.coderd.rules.world import World

_SLASHES = re.compile("/{2,}")
_T = TypeVar("_T")


@dataclass
class Call:
    """A request; guards fill the second half, handlers read it."""

    world: World
    method: str
    path: str
    routed_path: str
    headers: Headers
    query: QueryParams
    body: bytes
    client: str
    params: dict[str, str] = field(default_factory=dict[str, str])
    response_headers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    known_caller: Caller | None = None
    known_organization: Organization | None = None
    known_user: User | None = None
    known_key: ProvisionerKey | None = None
    known_proxy: Proxy | None = None
    psk_accepted: bool = False

    @property
    def cookies(self) -> dict[str, str]:
        """The request's cookies."""
        return cookie_parser(self.headers.get("cookie", ""))

    @property
    def caller(self) -> Caller:
        """Who asks; the route must have the user guard."""
        return _found(self.known_caller, "a signed-in user")

    @property
    def organization(self) -> Organization:
        """The organization of the path; the route must have the organization guard."""
        return _found(self.known_organization, "an organization")

    @property
    def user(self) -> User:
        """The user of the path; the route must have the user-of-path guard."""
        return _found(self.known_user, "a user")

    @property
    def key(self) -> ProvisionerKey:
        """The provisioner key presented; the route must have the key guard."""
        return _found(self.known_key, "a provisioner key")

    @property
    def proxy(self) -> Proxy:
        """The proxy of the path or behind the token; the route must have that guard."""
        return _found(self.known_proxy, "a proxy")

    @property
    def who(self) -> str | None:
        """For the request log: a name, never a credential."""
        if self.known_caller:
            return self.known_caller.user.username
        if self.known_key:
            return f"key:{self.known_key.name}"
        if self.known_proxy:
            return f"proxy:{self.known_proxy.name}"
        return None


def routed_path(path: str) -> str:
    """The path that the router matches: decoded, several slashes taken for one.

    An escaped slash is a slash like any other, so a name that holds one cannot be put into a path.
    """
    return _SLASHES.sub("/", path)


def _found(value: _T | None, what: str) -> _T:
    if value is None:
        raise RuntimeError(f"this route needs {what} but no guard looked for it")
    return value
