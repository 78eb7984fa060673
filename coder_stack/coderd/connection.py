"""How to connect to coderd: URL, token, CA bundle and deadlines, checked before use (CP8). Pure."""

import os
import re
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from typing import Protocol
from urllib.parse import urlsplit

from pydantic import SecretStr

from coder_stack.coderd.errors import InvalidConnection

_OPERATION = "connect to coderd"
# Stricter than the standard, so that all parsers find the same host in it.
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9._-]+|\[[0-9a-f:.]+\])"
    r"(?P<port>:[0-9]{1,5})?(?P<path>/[a-z0-9._~:/%-]*)?",
    re.IGNORECASE | re.ASCII,
)
_DEADLINE = "CODER_STACK_DEADLINE"
_HEADER_TEXT = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, kw_only=True)
class Deadlines:
    """Seconds. `total` is for a request with all its retries, the others are for each attempt.

    The environment variable CODER_STACK_DEADLINE is an upper limit for all of them.
    """

    connect: float = 5.0
    read: float = 30.0
    total: float = 60.0

    def at_most(self, seconds: float) -> "Deadlines":
        """Return the deadlines, none longer than that."""
        return Deadlines(
            connect=min(self.connect, seconds),
            read=min(self.read, seconds),
            total=min(self.total, seconds),
        )


class TokenSource(Protocol):
    """Finds the session token when a request needs one."""

    def token(self) -> SecretStr:
        """Find the token; raise Unauthenticated, with the next step, if there is none."""
        ...

    def after_refusal(self, refused: SecretStr) -> SecretStr | None:
        """Find another token after coderd refused this one; None if there is no other."""
        ...


@dataclass(frozen=True, kw_only=True)
class Connection:
    """How to connect to one coderd. `base_url` may end in the path of a service proxy.

    `ca_bundle` is PEM text or a path, and is then the only authority trusted. `allow_insecure`
    permits secrets over plain http to other machines; loopback never needs it.
    """

    base_url: str
    token: SecretStr | None = None
    ca_bundle: str | None = field(default=None, repr=False)
    allow_insecure: bool = False
    deadlines: Deadlines = Deadlines()

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", _checked_url(self.base_url))
        if self.token is not None:
            object.__setattr__(self, "token", checked_token(self.token))
        if cap := os.environ.get(_DEADLINE):
            object.__setattr__(self, "deadlines", self.deadlines.at_most(_seconds(cap)))
        if min(self.deadlines.connect, self.deadlines.read, self.deadlines.total) <= 0:
            raise InvalidConnection(_OPERATION, "every deadline must be longer than zero seconds.")

    @property
    def is_loopback(self) -> bool:
        """Tell whether the host is this machine."""
        return is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def may_carry_secrets(self) -> bool:
        """Tell whether secrets may be sent: over https, to this machine, or if allowed (CP8)."""
        return self.base_url.startswith("https:") or self.is_loopback or self.allow_insecure


def direct_url(
    url: str | None,
    access_url: str | None,
    *,
    through_api_server: bool | None,
    deployed: bool = True,
) -> str | None:
    """Return the URL at which Pulumi reaches coderd; None means through the API server (CP8).

    The access URL of a coderd that the stack deploys is used only on request: on a first deployment
    its name leads nowhere yet (F2). That of a coderd that was there before is used unless the
    config says otherwise.
    """
    at_access_url = through_api_server is False if deployed else not through_api_server
    return url or (access_url if at_access_url else None)


def service_proxy_url(
    api_server: str, namespace: str, service: str, port: str | int, *, tls: bool = False
) -> str:
    """Return coderd's URL behind the API server's service proxy; `tls` if coderd serves https."""
    scheme = "https" if tls else "http"
    target = f"{scheme}:{service}:{port}"
    return f"{api_server.rstrip('/')}/api/v1/namespaces/{namespace}/services/{target}/proxy"


def checked_token(token: SecretStr) -> SecretStr:
    """Return the token without the line break that Secrets often end in; raise if it is none."""
    text = token.get_secret_value().strip()
    if not _HEADER_TEXT.fullmatch(text):
        why = "the session token is empty or holds characters that no token has; copy it again."
        raise InvalidConnection(_OPERATION, why)
    return SecretStr(text)


def _checked_url(url: str) -> str:
    match = _URL.fullmatch(url.strip())
    port = match["port"] if match else None
    if match is None or (port and not 0 < int(port[1:]) < 65536) or ".." in (match["path"] or ""):
        # The message does not quote the URL, which may hold a password.
        raise InvalidConnection(
            _OPERATION,
            "its URL must be http:// or https://, a host, and at most a port and a path "
            "(no user, query or fragment); correct the setting.",
        )
    return match[0].rstrip("/")


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidConnection(_OPERATION, f"{_DEADLINE} must be seconds; correct it.") from None


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback
