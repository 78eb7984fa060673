"""Workspace proxies: managed by owners, registered by the proxies themselves.

The license is checked before any credential.
"""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, as_json, message
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import body, proxies
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.identifiers import random_text
from sandbox.coderd.rules.records import ProxyRow
from sandbox.coderd.rules.refusal import RefusalError

_ALL = "/workspaceproxies"
_ONE = f"{_ALL}/{{workspaceproxy}}"
_FIRST_REGION = 10000


def add_routes(router: Router) -> None:
    """Add the routes of the enterprise build."""
    licensed = auth.licensed(proxies.FEATURE)
    router.mount(_ALL, licensed)
    router.add("POST", _ALL, create, licensed, auth.signed_in)
    router.add("GET", _ALL, list_all, licensed, auth.signed_in)
    own = (licensed, auth.proxy_presented)
    router.mount(f"{_ALL}/me", *own)
    router.add("POST", f"{_ALL}/me/register", register, *own)
    router.add("POST", f"{_ALL}/me/deregister", deregister, *own)
    router.add("GET", f"{_ALL}/me/crypto-keys", crypto_keys, *own)
    router.add("GET", f"{_ALL}/me/coordinate", coordinate, *own)
    one = (licensed, auth.signed_in, auth.proxy_of_path)
    router.mount(_ONE, *one)
    router.add("GET", _ONE, show, *one)
    router.add("PATCH", _ONE, change, *one)
    router.add("DELETE", _ONE, delete, *one)


def create(ctx: RequestContext) -> HttpResponse:
    """Handle POST /workspaceproxies."""
    request = body.read(ctx.body, proxies.NEW_PROXY)
    proxy, token = proxies.create_proxy(ctx.state, ctx.actor, request)
    return as_json(201, {"proxy": to_json(ctx, proxy), "proxy_token": token})


def list_all(ctx: RequestContext) -> HttpResponse:
    """Handle GET /workspaceproxies: the primary first."""
    found = proxies.list_proxies(ctx.state)
    return as_json(200, {"regions": [to_json(ctx, proxy) for proxy in found]})


def show(ctx: RequestContext) -> HttpResponse:
    """Handle GET /workspaceproxies/{p}."""
    return as_json(200, to_json(ctx, ctx.proxy))


def change(ctx: RequestContext) -> HttpResponse:
    """Handle PATCH /workspaceproxies/{p}; coderd requires an id in the body and ignores it."""
    request = body.read(ctx.body, proxies.CHANGED_PROXY)
    proxy, token = proxies.change_proxy(ctx.state, ctx.actor, ctx.proxy, request)
    return as_json(200, {"proxy": to_json(ctx, proxy), "proxy_token": token})


def delete(ctx: RequestContext) -> HttpResponse:
    """Handle DELETE /workspaceproxies/{p}."""
    proxies.delete_proxy(ctx.state, ctx.actor, ctx.proxy)
    return message(200, "Proxy has been deleted!")


def register(ctx: RequestContext) -> HttpResponse:
    """Handle POST /workspaceproxies/me/register."""
    request = body.read(ctx.body, proxies.REGISTRATION)
    replica = proxies.register(ctx.state, ctx.proxy, request)
    siblings = [
        {"id": other.id, "hostname": other.hostname}
        for other in ctx.state.records.replicas.values()
        if other.proxy_id == ctx.proxy.id and other.id != replica.id and not other.stopped
    ]
    return as_json(
        201,
        {
            "derp_mesh_key": random_text(32),
            "derp_region_id": _FIRST_REGION + ctx.proxy.region_id,
            "derp_map": {"Regions": {}},
            "derp_force_websockets": False,
            "sibling_replicas": siblings,
        },
    )


def deregister(ctx: RequestContext) -> HttpResponse:
    """Handle POST /workspaceproxies/me/deregister."""
    proxies.deregister(ctx.state, body.read(ctx.body, proxies.DEREGISTRATION))
    return HttpResponse(204)


def crypto_keys(ctx: RequestContext) -> HttpResponse:
    """Handle GET /workspaceproxies/me/crypto-keys: the simulation has none."""
    feature = ctx.query.get("feature", "")
    if not feature:
        raise RefusalError(400, "Missing feature query parameter.")
    if feature not in {"workspace_apps_token", "workspace_apps_api_key"}:
        raise RefusalError(400, f'Invalid feature: "{feature}"')
    return as_json(200, {"crypto_keys": []})


def coordinate(_ctx: RequestContext) -> HttpResponse:
    """Handle GET /workspaceproxies/me/coordinate: the simulation has no websocket."""
    return HttpResponse(426)


def to_json(ctx: RequestContext, proxy: ProxyRow) -> dict[str, object]:
    """Return a proxy as the API does."""
    status, errors = proxies.health(ctx.state, proxy)
    return {
        "id": proxy.id,
        "name": proxy.name,
        "display_name": proxy.display_name,
        "icon_url": proxy.icon,
        "healthy": status == "ok",
        "path_app_url": proxy.url,
        "wildcard_hostname": proxy.wildcard_hostname,
        "derp_enabled": proxy.derp_enabled,
        "derp_only": proxy.derp_only,
        "status": {
            "status": status,
            "report": {"errors": list(errors), "warnings": []},
            "checked_at": timestamp(ctx.state.now()),
        },
        "created_at": timestamp(proxy.created_at),
        "updated_at": timestamp(proxy.updated_at),
        "deleted": proxy.deleted,
        "version": proxy.version,
    }
