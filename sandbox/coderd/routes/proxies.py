"""Section 8: workspace proxies, from the owner's side and from the proxy's.

The license is asked before any credential.
"""

from sandbox.coderd.answers import Answer, as_json, message
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import body, proxies
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.identifiers import random_text
from sandbox.coderd.rules.records import Proxy
from sandbox.coderd.rules.refusal import RefusalError

_ALL = "/workspaceproxies"
_ONE = f"{_ALL}/{{workspaceproxy}}"
_FIRST_REGION = 10000


def add_routes(router: Router) -> None:
    """Routes of the enterprise build."""
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


def create(call: Call) -> Answer:
    """POST /workspaceproxies."""
    request = body.read(call.body, proxies.NEW_PROXY)
    proxy, token = proxies.create_proxy(call.world, call.caller, request)
    return as_json(201, {"proxy": shown(call, proxy), "proxy_token": token})


def list_all(call: Call) -> Answer:
    """GET /workspaceproxies: the primary first."""
    found = proxies.list_proxies(call.world)
    return as_json(200, {"regions": [shown(call, proxy) for proxy in found]})


def show(call: Call) -> Answer:
    """GET /workspaceproxies/{p}."""
    return as_json(200, shown(call, call.proxy))


def change(call: Call) -> Answer:
    """PATCH /workspaceproxies/{p}; the id in the body must be there and is not used."""
    request = body.read(call.body, proxies.CHANGED_PROXY)
    proxy, token = proxies.change_proxy(call.world, call.caller, call.proxy, request)
    return as_json(200, {"proxy": shown(call, proxy), "proxy_token": token})


def delete(call: Call) -> Answer:
    """DELETE /workspaceproxies/{p}."""
    proxies.delete_proxy(call.world, call.caller, call.proxy)
    return message(200, "Proxy has been deleted!")


def register(call: Call) -> Answer:
    """POST /workspaceproxies/me/register."""
    request = body.read(call.body, proxies.REGISTRATION)
    replica = proxies.register(call.world, call.proxy, request)
    siblings = [
        {"id": other.id, "hostname": other.hostname}
        for other in call.world.records.replicas.values()
        if other.proxy_id == call.proxy.id and other.id != replica.id and not other.stopped
    ]
    return as_json(
        201,
        {
            "derp_mesh_key": random_text(32),
            "derp_region_id": _FIRST_REGION + call.proxy.region_id,
            "derp_map": {"Regions": {}},
            "derp_force_websockets": False,
            "sibling_replicas": siblings,
        },
    )


def deregister(call: Call) -> Answer:
    """POST /workspaceproxies/me/deregister."""
    proxies.deregister(call.world, body.read(call.body, proxies.DEREGISTRATION))
    return Answer(204)


def crypto_keys(call: Call) -> Answer:
    """GET /workspaceproxies/me/crypto-keys: the simulation has none to hand out."""
    feature = call.query.get("feature", "")
    if not feature:
        raise RefusalError(400, "Missing feature query parameter.")
    if feature not in {"workspace_apps_token", "workspace_apps_api_key"}:
        raise RefusalError(400, f'Invalid feature: "{feature}"')
    return as_json(200, {"crypto_keys": []})


def coordinate(_call: Call) -> Answer:
    """GET /workspaceproxies/me/coordinate: a websocket, which the simulation does not speak."""
    return Answer(426)


def shown(call: Call, proxy: Proxy) -> dict[str, object]:
    """A proxy as the API shows it; `icon` comes back as `icon_url`."""
    status = proxies.health(call.world, proxy)
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
            "report": {"errors": [], "warnings": []},
            "checked_at": timestamp(call.world.now()),
        },
        "created_at": timestamp(proxy.created_at),
        "updated_at": timestamp(proxy.updated_at),
        "deleted": proxy.deleted,
        "version": proxy.version,
    }
