"""Guards: who asks, about which organization or user, and whether the feature is licensed.

The order in which a route lists them is the order in which coderd says no, and clients can see it.
"""

from sandbox.coderd.call import Call
from sandbox.coderd.router import Guard
from sandbox.coderd.rules import features, organizations, provisioner_keys, proxies, sessions, users
from sandbox.coderd.rules.refusal import RefusalError

SESSION_HEADER = "Coder-Session-Token"
KEY_HEADER = "Coder-Provisioner-Daemon-Key"
PSK_HEADER = "Coder-Provisioner-Daemon-PSK"
PROXY_HEADER = "Coder-External-Proxy-Token"
WARNING_HEADER = "X-Coder-Entitlements-Warning"


def presented_token(call: Call) -> str:
    """The session token, from the first place that has one; the cookie beats everything."""
    bearer = call.headers.get("authorization", "")
    return (
        call.cookies.get(sessions.SESSION_COOKIE)
        or call.query.get(sessions.SESSION_COOKIE)
        or call.headers.get(SESSION_HEADER)
        or (bearer[7:] if bearer.lower().startswith("bearer ") else "")
        or call.query.get("access_token")
        or ""
    )


def signed_in(call: Call) -> None:
    """Guard: a valid session or token."""
    try:
        call.known_caller = sessions.authenticate(call.world, presented_token(call))
    except RefusalError as refusal:
        challenge = _challenge(call, refusal)
        headers = (*refusal.headers, ("WWW-Authenticate", challenge))
        raise RefusalError(
            refusal.status, refusal.message, refusal.detail, headers=headers
        ) from refusal
    if call.known_caller.may_read_deployment_config():
        warnings = call.world.entitlements.warnings
        call.response_headers.extend((WARNING_HEADER, warning) for warning in warnings)


def maybe_signed_in(call: Call) -> None:
    """Guard: a session if there is a good one, and no complaint if not."""
    try:
        signed_in(call)
    except RefusalError:
        call.known_caller = None


def user_of_path(call: Call) -> None:
    """Guard: the `{user}` in the path exists for this caller."""
    call.known_user = users.find_user(call.world, call.caller, call.params["user"])


def organization_of_path(call: Call) -> None:
    """Guard: the `{organization}` in the path exists for this caller (daemons see all)."""
    reference = call.params["organization"]
    found = organizations.find_organization(call.world, call.known_caller, reference)
    call.known_organization = found


def key_presented(call: Call) -> None:
    """Guard: a valid provisioner key in its own header."""
    secret, psk = call.headers.get(KEY_HEADER, ""), call.headers.get(PSK_HEADER, "")
    call.known_key = provisioner_keys.authenticate(call.world, secret, psk)


def proxy_presented(call: Call) -> None:
    """Guard: a valid proxy token in its own header."""
    call.known_proxy = proxies.authenticate(call.world, call.headers.get(PROXY_HEADER, ""))


def proxy_of_path(call: Call) -> None:
    """Guard: the `{workspaceproxy}` in the path exists."""
    call.known_proxy = proxies.find_proxy(call.world, call.caller, call.params["workspaceproxy"])


def licensed(feature: str) -> Guard:
    """Guard: the feature is enabled now."""

    def check(call: Call) -> None:
        if not call.world.entitlements.enabled(feature):
            name = features.humanized(feature)
            raise RefusalError(403, f"{name} is a Premium feature. Contact sales!")

    return check


def _challenge(call: Call, refusal: RefusalError) -> str:
    expired = "expired" in refusal.message + refusal.detail
    what = "The access token has expired" if expired else "The access token is invalid"
    host = call.headers.get("host", "")
    metadata = f"http://{host}/.well-known/oauth-protected-resource"
    return (
        f'Bearer realm="coder", error="invalid_token", error_description="{what}", '
        f'resource_metadata="{metadata}"'
    )
