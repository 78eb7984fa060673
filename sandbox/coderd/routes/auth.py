"""Guards: check credentials, the objects in the path, and the license before a handler runs.

Routes list them in the order in which coderd refuses a request.
"""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.router import Guard
from sandbox.coderd.rules import features, organizations, provisioner_keys, proxies, sessions, users
from sandbox.coderd.rules.refusal import RefusalError
from sandbox.coderd.rules.versions import BEARER, CHALLENGE, USER_AFTER_ROUTE

SESSION_HEADER = "Coder-Session-Token"
KEY_HEADER = "Coder-Provisioner-Daemon-Key"
PSK_HEADER = "Coder-Provisioner-Daemon-PSK"
PROXY_HEADER = "Coder-External-Proxy-Token"
WARNING_HEADER = "X-Coder-Entitlements-Warning"


def presented_token(ctx: RequestContext) -> str:
    """Return the session token from the cookie, else from the query or a header."""
    return (
        ctx.cookies.get(sessions.SESSION_COOKIE)
        or ctx.query.get(sessions.SESSION_COOKIE)
        or ctx.headers.get(SESSION_HEADER)
        or bearer(ctx)
        or (ctx.query.get("access_token") if ctx.state.has(BEARER) else "")
        or ""
    )


def bearer(ctx: RequestContext) -> str:
    """Return the token of an `Authorization: Bearer`; empty without one."""
    scheme, _, token = ctx.headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" and ctx.state.has(BEARER) else ""


def signed_in(ctx: RequestContext) -> None:
    """Require a valid session or token."""
    try:
        ctx.known_actor = sessions.authenticate(ctx.state, presented_token(ctx))
    except RefusalError as refusal:
        if not ctx.state.has(CHALLENGE):
            raise
        challenge = _challenge(ctx, refusal)
        headers = (*refusal.headers, ("WWW-Authenticate", challenge))
        raise RefusalError(
            refusal.status, refusal.message, refusal.detail, headers=headers
        ) from refusal
    if ctx.known_actor.may_read_deployment_config():
        warnings = ctx.state.entitlements.warnings
        ctx.response_headers.extend((WARNING_HEADER, warning) for warning in warnings)


def maybe_signed_in(ctx: RequestContext) -> None:
    """Use a valid session or token if there is one."""
    try:
        signed_in(ctx)
    except RefusalError:
        ctx.known_actor = None


def user_of_path(ctx: RequestContext) -> None:
    """Require a `{user}` in the path that the actor may see."""
    ctx.known_user = users.find_user(ctx.state, ctx.actor, ctx.params["user"])


def user_before_route(ctx: RequestContext) -> None:
    """Require the `{user}` for unknown routes and methods too, as old versions do."""
    if not ctx.state.has(USER_AFTER_ROUTE):
        user_of_path(ctx)


def organization_of_path(ctx: RequestContext) -> None:
    """Require an `{organization}` in the path that the actor may see; daemons see all."""
    reference = ctx.params["organization"]
    found = organizations.find_organization(ctx.state, ctx.known_actor, reference)
    ctx.known_organization = found


def key_presented(ctx: RequestContext) -> None:
    """Require a valid provisioner key in its header."""
    secret, psk = ctx.headers.get(KEY_HEADER, ""), ctx.headers.get(PSK_HEADER, "")
    ctx.known_key = provisioner_keys.authenticate(ctx.state, secret, psk)


def proxy_presented(ctx: RequestContext) -> None:
    """Require a valid proxy token in its header."""
    ctx.known_proxy = proxies.authenticate(ctx.state, ctx.headers.get(PROXY_HEADER, ""))


def proxy_of_path(ctx: RequestContext) -> None:
    """Require an existing `{workspaceproxy}` in the path."""
    ctx.known_proxy = proxies.find_proxy(ctx.state, ctx.actor, ctx.params["workspaceproxy"])


def licensed(feature: str) -> Guard:
    """Return a guard that requires an enabled feature."""

    def check(ctx: RequestContext) -> None:
        if not ctx.state.entitlements.enabled(feature):
            name = features.humanized(feature)
            raise RefusalError(403, f"{name} is a Premium feature. Contact sales!")

    return check


def _challenge(ctx: RequestContext, refusal: RefusalError) -> str:
    expired = "expired" in refusal.message + refusal.detail
    what = "The access token has expired" if expired else "The access token is invalid"
    host = ctx.headers.get("host", "")
    metadata = f"http://{host}/.well-known/oauth-protected-resource"
    return (
        f'Bearer realm="coder", error="invalid_token", error_description="{what}", '
        f'resource_metadata="{metadata}"'
    )
