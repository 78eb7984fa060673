"""The trap for clients that keep cookies: unsafe methods then need more than the cookie.

Without that cookie there is nothing to protect. With it, the request passes if the header repeats
the cookie or another header-only credential is there; otherwise it is a 400 in plain text.
"""

import re

from sandbox.coderd.answers import Answer, plain
from sandbox.coderd.call import Call
from sandbox.coderd.routes import auth
from sandbox.coderd.rules.sessions import SESSION_COOKIE

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_EXEMPT = re.compile(
    r"/api/v2/users/first|api/v2/workspaceproxies/me|/organizations/[^/]+/provisionerdaemons"
)
_MISMATCH = (
    f'CSRF error encountered. Authentication via "{SESSION_COOKIE}" cookie and '
    f'"{auth.SESSION_HEADER}" header detected, but the values do not match. To resolve this issue '
    "ensure the values used in both match, or only use one of the authentication methods. You can "
    "also try clearing your cookies if this error persists.\n"
)
_BROKEN = (
    "Something is wrong with your CSRF token. Please refresh the page. If this error persists, "
    "try clearing your cookies.\n"
)


def refusal(call: Call) -> Answer | None:
    """The 400, or None if the request may pass."""
    if call.method in _SAFE or not call.path.startswith("/api") or _EXEMPT.search(call.path):
        return None
    cookie = call.cookies.get(SESSION_COOKIE)
    header = call.headers.get(auth.SESSION_HEADER, "")
    if cookie is None or cookie in {header, call.query.get(SESSION_COOKIE)}:
        return None
    if call.headers.get(auth.PSK_HEADER) or call.headers.get(auth.KEY_HEADER):
        return None
    if call.headers.get("authorization", "").lower().startswith("bearer "):
        return None
    return plain(400, _MISMATCH if header else _BROKEN)
