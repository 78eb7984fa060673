"""Workspaces, as far as this project asks: how many are in an organization.

Nobody builds any here; `/_sim/workspaces` puts them in place. Each is shown with few of its fields.
"""

from sandbox.coderd.answers import Answer, as_json
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import organizations
from sandbox.coderd.rules.go_text import quoted
from sandbox.coderd.rules.identifiers import as_uuid
from sandbox.coderd.rules.refusal import FieldFault, RefusalError


def add_routes(router: Router) -> None:
    """What every build has."""
    router.mount("/workspaces", auth.signed_in)
    router.add("GET", "/workspaces", list_workspaces, auth.signed_in)


def list_workspaces(call: Call) -> Answer:
    """GET /workspaces, with `organization:` as the only search term; `count` ignores the limit."""
    found = [
        workspace
        for workspace in call.world.records.workspaces.values()
        if call.caller.may_read_workspaces(workspace.organization_id)
    ]
    for term in call.query.get("q", "").lower().split():
        wanted = _organization(call, term)
        found = [workspace for workspace in found if workspace.organization_id == wanted]
    limit = call.query.get("limit", "")
    shown = found[: int(limit)] if limit.isdigit() and int(limit) else found
    rows = [
        {"id": row.id, "organization_id": row.organization_id, "name": row.name} for row in shown
    ]
    return as_json(200, {"workspaces": rows, "count": len(found)})


def _organization(call: Call, term: str) -> str:
    """The id that a term names. By id nothing is looked up: an unknown one holds nothing."""
    field, _, reference = term.partition(":")
    fault = f"{quoted(field)} is not a valid query param"
    if field == "organization":
        if identifier := as_uuid(reference):
            return identifier
        known = organizations.by_name(call.world, reference)
        if known and call.caller.may_read_organization(known.id):
            return known.id
        name = quoted(reference)
        reason = f"organization {name} either does not exist, or you are unauthorized to view it"
        fault = f'Query param "organization" has invalid value: {reason}'
    faults = (FieldFault(field, fault),)
    raise RefusalError(400, "Invalid workspace search query.", faults=faults)
