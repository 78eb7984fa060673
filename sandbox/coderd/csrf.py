"""coderd's CSRF check: a request that sends the session cookie must prove more than that.

It passes if a header repeats the cookie's value or holds another credential. Otherwise it gets a
400 in plain text.
"""

import re

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, plain
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


def refusal(ctx: RequestContext) -> HttpResponse | None:
    """Return the 400, or None if the request may pass."""
    if ctx.method in _SAFE or not ctx.path.startswith("/api") or _EXEMPT.search(ctx.path):
        return None
    cookie = ctx.cookies.get(SESSION_COOKIE)
    header = ctx.headers.get(auth.SESSION_HEADER, "")
    if cookie is None or cookie in {header, ctx.query.get(SESSION_COOKIE)}:
        return None
    if ctx.headers.get(auth.PSK_HEADER) or ctx.headers.get(auth.KEY_HEADER):
        return None
    if auth.bearer(ctx):
        return None
    return plain(400, _MISMATCH if header else _BROKEN)
