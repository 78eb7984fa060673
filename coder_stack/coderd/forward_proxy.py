"""Choose the forward proxy for a Kubernetes API server as kubectl does (CP11). Pure.

The kubeconfig's `proxy-url` comes first and has no exceptions. Without one, HTTPS_PROXY or
HTTP_PROXY counts, unless NO_PROXY names the host or the server is on this machine.
"""

import re
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, unquote, urlsplit

from coder_stack.coderd.connection import is_loopback
from coder_stack.coderd.errors import InvalidConnection

_OPERATION = "connect to the Kubernetes API server"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def forward_proxy(server: str, given: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the URL of the proxy for `server`; `given` is the kubeconfig's `proxy-url`."""
    if given:
        return _checked(given, "the kubeconfig's proxy-url")
    target = urlsplit(server)
    variable = f"{target.scheme.upper()}_PROXY"
    named = _variable(environment, variable)
    if not named or is_loopback(target.hostname or ""):
        return None
    if any(_covers(entry, target) for entry in _variable(environment, "NO_PROXY").split(",")):
        return None
    return _checked(named if _SCHEME.match(named) else f"http://{named}", variable)


def proxy_login(proxy: str) -> str | None:
    """Return the `user:password` of a proxy's URL, for the Proxy-Authorization header."""
    parts = urlsplit(proxy)
    if parts.username is None:
        return None
    return f"{unquote(parts.username)}:{unquote(parts.password or '')}"


def _checked(proxy: str, source: str) -> str:
    try:
        parts = urlsplit(proxy)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        # The message does not quote it, because it may hold a password.
        why = f"{source} must be http:// or https:// with a host; correct it."
        raise InvalidConnection(_OPERATION, why)
    return proxy


def _variable(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name) or environment.get(name.lower()) or ""


def _covers(entry: str, target: SplitResult) -> bool:
    """Match an entry of NO_PROXY: `*`, a host, a domain, an address or a CIDR."""
    entry, host = entry.strip().lower(), target.hostname or ""
    if entry == "*":
        return True
    name, _, port = entry.rpartition(":")
    if name and port.isdigit() and (":" not in name or name.endswith("]")):
        if int(port) != (target.port or (443 if target.scheme == "https" else 80)):
            return False
        entry = name
    try:
        return ip_address(host) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        # A domain includes its subdomains; with a dot in front, it means only these.
        domain = entry.removeprefix("*").removeprefix(".")
        return bool(domain) and (host == entry or host.endswith(f".{domain}"))
