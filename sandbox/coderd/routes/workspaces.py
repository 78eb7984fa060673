"""The list of workspaces, with few of their fields; `/_sim/workspaces` creates them."""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, as_json
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import organizations
from sandbox.coderd.rules.go_text import quoted
from sandbox.coderd.rules.identifiers import as_uuid
from sandbox.coderd.rules.refusal import FieldFault, RefusalError


def add_routes(router: Router) -> None:
    """Add the routes of every build."""
    router.mount("/workspaces", auth.signed_in)
    router.add("GET", "/workspaces", list_workspaces, auth.signed_in)


def list_workspaces(ctx: RequestContext) -> HttpResponse:
    """Handle GET /workspaces; the only search term is `organization:`. `count` ignores `limit`."""
    found = [
        workspace
        for workspace in ctx.state.records.workspaces.values()
        if ctx.actor.may_read_workspaces(workspace.organization_id)
    ]
    for term in ctx.query.get("q", "").lower().split():
        wanted = _organization(ctx, term)
        found = [workspace for workspace in found if workspace.organization_id == wanted]
    limit = ctx.query.get("limit", "")
    shown = found[: int(limit)] if limit.isdigit() and int(limit) else found
    rows = [
        {"id": row.id, "organization_id": row.organization_id, "name": row.name} for row in shown
    ]
    return as_json(200, {"workspaces": rows, "count": len(found)})


def _organization(ctx: RequestContext, term: str) -> str:
    """Return the organization's id that a search term names; an id is not looked up."""
    field, _, reference = term.partition(":")
    fault = f"{quoted(field)} is not a valid query param"
    if field == "organization":
        if identifier := as_uuid(reference):
            return identifier
        known = organizations.by_name(ctx.state, reference)
        if known and ctx.actor.may_read_organization(known.id):
            return known.id
        name = quoted(reference)
        reason = f"organization {name} either does not exist, or you are unauthorized to view it"
        fault = f'Query param "organization" has invalid value: {reason}'
    faults = (FieldFault(field, fault),)
    raise RefusalError(400, "Invalid workspace search query.", faults=faults)
