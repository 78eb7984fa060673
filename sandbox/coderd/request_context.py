"""A request with the objects that its guards have looked up for the handler."""

import re
from dataclasses import dataclass, field
from typing import TypeVar

from starlette.datastructures import Headers, QueryParams
from starlette.requests import cookie_parser

from sandbox.coderd.rules.permissions import Actor
from sandbox.coderd.rules.records import OrganizationRow, ProvisionerKeyRow, ProxyRow, UserRow
from sandbox.coderd.rules.state import CoderdState

_SLASHES = re.compile("/{2,}")
_T = TypeVar("_T")


@dataclass
class RequestContext:
    """A request; guards set the `known_…` fields, handlers read them."""

    state: CoderdState
    method: str
    path: str
    routed_path: str
    headers: Headers
    query: QueryParams
    body: bytes
    client: str
    params: dict[str, str] = field(default_factory=dict[str, str])
    response_headers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    known_actor: Actor | None = None
    known_organization: OrganizationRow | None = None
    known_user: UserRow | None = None
    known_key: ProvisionerKeyRow | None = None
    known_proxy: ProxyRow | None = None
    psk_accepted: bool = False

    @property
    def cookies(self) -> dict[str, str]:
        """Return the request's cookies."""
        return cookie_parser(self.headers.get("cookie", ""))

    @property
    def actor(self) -> Actor:
        """Return who sent the request; needs the guard `signed_in`."""
        return _found(self.known_actor, "a signed-in user")

    @property
    def organization(self) -> OrganizationRow:
        """Return the organization in the path; needs the guard `organization_of_path`."""
        return _found(self.known_organization, "an organization")

    @property
    def user(self) -> UserRow:
        """Return the user in the path; needs the guard `user_of_path`."""
        return _found(self.known_user, "a user")

    @property
    def key(self) -> ProvisionerKeyRow:
        """Return the provisioner key; needs the guard `key_presented` or `key_of_path`."""
        return _found(self.known_key, "a provisioner key")

    @property
    def proxy(self) -> ProxyRow:
        """Return the proxy; needs the guard `proxy_of_path` or `proxy_presented`."""
        return _found(self.known_proxy, "a proxy")

    @property
    def who(self) -> str | None:
        """Return a name for the request log, never a credential."""
        if self.known_actor:
            return self.known_actor.user.username
        if self.known_key:
            return f"key:{self.known_key.name}"
        if self.known_proxy:
            return f"proxy:{self.known_proxy.name}"
        return None


def routed_path(path: str) -> str:
    """Return the path that the router matches, with repeated slashes merged.

    Escaped slashes are decoded before, so a name that contains one cannot be in a path.
    """
    return _SLASHES.sub("/", path)


def _found(value: _T | None, what: str) -> _T:
    if value is None:
        raise RuntimeError(f"this route needs {what} but no guard looked for it")
    return value
