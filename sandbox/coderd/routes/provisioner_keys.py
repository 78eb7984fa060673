"""Provisioner keys: managed by users, and looked up by daemons."""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, as_json
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.routes.daemons import to_json as daemon_to_json
from sandbox.coderd.rules import body, daemons, provisioner_keys
from sandbox.coderd.rules.go_text import ZERO_TIME, timestamp
from sandbox.coderd.rules.records import ProvisionerKeyRow

_KEYS = "/organizations/{organization}/provisionerkeys"


def add_routes(router: Router) -> None:
    """Add the routes of the enterprise build: session, organization, license, in that order."""
    guards = (auth.signed_in, auth.organization_of_path, auth.licensed(daemons.FEATURE))
    router.mount("/provisionerkeys", auth.key_presented)
    router.mount(_KEYS, *guards)
    router.add("GET", "/provisionerkeys/{provisionerkey}", own_key, auth.key_presented)
    router.add("GET", _KEYS, list_keys, *guards)
    router.add("POST", _KEYS, create_key, *guards)
    router.add("GET", f"{_KEYS}/daemons", keys_with_daemons, *guards)
    router.mount(f"{_KEYS}/{{provisionerkey}}", *guards, key_of_path)
    router.add("DELETE", f"{_KEYS}/{{provisionerkey}}", delete_key, *guards, key_of_path)


def key_of_path(ctx: RequestContext) -> None:
    """Require an existing `{provisionerkey}` name in the path."""
    name = ctx.params["provisionerkey"]
    found = provisioner_keys.find_key(ctx.state, ctx.actor, ctx.organization, name)
    ctx.known_key = found


def own_key(ctx: RequestContext) -> HttpResponse:
    """Handle GET /provisionerkeys/{anything}: coderd ignores the path's value."""
    return as_json(200, to_json(ctx.key))


def list_keys(ctx: RequestContext) -> HttpResponse:
    """Handle GET …/provisionerkeys."""
    found = provisioner_keys.list_keys(ctx.state, ctx.actor, ctx.organization)
    return as_json(200, [to_json(key) for key in found])


def create_key(ctx: RequestContext) -> HttpResponse:
    """Handle POST …/provisionerkeys: return only the secret."""
    request = body.read(ctx.body, provisioner_keys.NEW_KEY)
    secret = provisioner_keys.create_key(ctx.state, ctx.actor, ctx.organization, request)
    return as_json(201, {"key": secret})


def keys_with_daemons(ctx: RequestContext) -> HttpResponse:
    """Handle GET …/provisionerkeys/daemons, reserved keys included."""
    state, organization = ctx.state, ctx.organization
    reserved = provisioner_keys.reserved_keys(state, organization)
    rows: list[object] = []
    for key in [*reserved, *provisioner_keys.list_keys(state, ctx.actor, organization)]:
        item = to_json(key)
        if key in reserved and not organization.is_default:
            item["created_at"] = timestamp(ZERO_TIME)
        found = daemons.recent_of_key(state, organization, key.id)
        rows.append({"key": item, "daemons": [daemon_to_json(daemon) for daemon in found]})
    return as_json(200, rows)


def delete_key(ctx: RequestContext) -> HttpResponse:
    """Handle DELETE …/provisionerkeys/{name}."""
    provisioner_keys.delete_key(ctx.state, ctx.actor, ctx.key)
    return HttpResponse(204)


def to_json(key: ProvisionerKeyRow) -> dict[str, object]:
    """Return a key as the API does."""
    return {
        "id": key.id,
        "created_at": timestamp(key.created_at),
        "organization": key.organization_id,
        "name": key.name,
        "tags": {name: key.tags[name] for name in sorted(key.tags)},
    }
