"""Licenses, which only owners may manage."""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, as_json, message
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import body, licenses
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.records import LicenseRow


def add_routes(router: Router) -> None:
    """Add the routes of the enterprise build."""
    router.mount("/licenses", auth.signed_in)
    router.add("POST", "/licenses/refresh-entitlements", refresh, auth.signed_in)
    router.add("POST", "/licenses", add_license, auth.signed_in)
    router.add("GET", "/licenses", list_licenses, auth.signed_in)
    router.add("DELETE", "/licenses/{id}", delete_license, auth.signed_in)


def list_licenses(ctx: RequestContext) -> HttpResponse:
    """Handle GET /licenses: `null` if the actor may see none."""
    found = licenses.list_licenses(ctx.state, ctx.actor)
    return as_json(200, [to_json(stored) for stored in found] or None)


def add_license(ctx: RequestContext) -> HttpResponse:
    """Handle POST /licenses."""
    licenses.require_permission(ctx.actor)
    request = body.read(ctx.body, licenses.NEW_LICENSE)
    return as_json(201, to_json(licenses.add_license(ctx.state, request)))


def delete_license(ctx: RequestContext) -> HttpResponse:
    """Handle DELETE /licenses/{id}: 200 with an empty body."""
    licenses.delete_license(ctx.state, ctx.actor, ctx.params["id"])
    return HttpResponse(200)


def refresh(ctx: RequestContext) -> HttpResponse:
    """Handle POST /licenses/refresh-entitlements."""
    licenses.force_refresh(ctx.state, ctx.actor)
    return message(200, "Entitlements updated")


def to_json(stored: LicenseRow) -> dict[str, object]:
    """Return a license as the API does: its claims, never its text."""
    return {
        "id": stored.id,
        "uuid": stored.uuid,
        "uploaded_at": timestamp(stored.uploaded_at),
        "claims": licenses.claims_json(stored),
    }
