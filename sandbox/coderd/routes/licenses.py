"""Section 5: licenses. No feature gates them; only an owner may touch them."""

from sandbox.coderd.answers import Answer, as_json, message
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import body, licenses
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.records import License


def add_routes(router: Router) -> None:
    """Routes of the enterprise build."""
    router.mount("/licenses", auth.signed_in)
    router.add("POST", "/licenses/refresh-entitlements", refresh, auth.signed_in)
    router.add("POST", "/licenses", add_license, auth.signed_in)
    router.add("GET", "/licenses", list_licenses, auth.signed_in)
    router.add("DELETE", "/licenses/{id}", delete_license, auth.signed_in)


def list_licenses(call: Call) -> Answer:
    """GET /licenses: `null` when there is none, or none for these eyes."""
    found = licenses.list_licenses(call.world, call.caller)
    return as_json(200, [shown(stored) for stored in found] or None)


def add_license(call: Call) -> Answer:
    """POST /licenses."""
    licenses.require_permission(call.caller)
    request = body.read(call.body, licenses.NEW_LICENSE)
    return as_json(201, shown(licenses.add_license(call.world, request)))


def delete_license(call: Call) -> Answer:
    """DELETE /licenses/{id}: 200 with an empty body."""
    licenses.delete_license(call.world, call.caller, call.params["id"])
    return Answer(200)


def refresh(call: Call) -> Answer:
    """POST /licenses/refresh-entitlements."""
    licenses.force_refresh(call.world, call.caller)
    return message(200, "Entitlements updated")


def shown(stored: License) -> dict[str, object]:
    """A license as the API shows it: its claims, never its text."""
    return {
        "id": stored.id,
        "uuid": stored.uuid,
        "uploaded_at": timestamp(stored.uploaded_at),
        "claims": licenses.claims_shown(stored),
    }
