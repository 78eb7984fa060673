"""Organizations; only the enterprise build creates, changes and deletes them."""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, as_json, message
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import body, organizations
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.records import OrganizationRow


def add_routes(router: Router) -> None:
    """Add the routes of every build."""
    router.mount("/organizations", auth.signed_in)
    router.mount("/organizations/{organization}", auth.signed_in, auth.organization_of_path)
    router.add("GET", "/organizations", list_organizations, auth.signed_in)
    one = (auth.signed_in, auth.organization_of_path)
    router.add("GET", "/organizations/{organization}", show_organization, *one)


def add_enterprise_routes(router: Router) -> None:
    """Add the routes that require `multiple_organizations` before the organization is looked up."""
    licensed = auth.licensed("multiple_organizations")
    router.add("POST", "/organizations", create_organization, auth.signed_in, licensed)
    one = (auth.signed_in, licensed, auth.organization_of_path)
    router.add("PATCH", "/organizations/{organization}", change_organization, *one)
    router.add("DELETE", "/organizations/{organization}", delete_organization, *one)


def list_organizations(ctx: RequestContext) -> HttpResponse:
    """Handle GET /organizations."""
    found = organizations.list_organizations(ctx.state, ctx.actor)
    return as_json(200, [to_json(organization) for organization in found])


def show_organization(ctx: RequestContext) -> HttpResponse:
    """Handle GET /organizations/{organization}."""
    return as_json(200, to_json(ctx.organization))


def create_organization(ctx: RequestContext) -> HttpResponse:
    """Handle POST /organizations."""
    request = body.read(ctx.body, organizations.NEW_ORGANIZATION)
    created = organizations.create_organization(ctx.state, ctx.actor, request)
    return as_json(201, to_json(created))


def change_organization(ctx: RequestContext) -> HttpResponse:
    """Handle PATCH /organizations/{organization}."""
    request = body.read(ctx.body, organizations.CHANGED_ORGANIZATION)
    changed = organizations.change_organization(ctx.state, ctx.actor, ctx.organization, request)
    return as_json(200, to_json(changed))


def delete_organization(ctx: RequestContext) -> HttpResponse:
    """Handle DELETE /organizations/{organization}."""
    organizations.delete_organization(ctx.state, ctx.actor, ctx.organization)
    return message(200, "Organization has been deleted.")


def to_json(organization: OrganizationRow) -> dict[str, object]:
    """Return an organization as the API does."""
    return {
        "id": organization.id,
        "name": organization.name,
        "display_name": organization.display_name,
        "icon": organization.icon,
        "description": organization.description,
        "created_at": timestamp(organization.created_at),
        "updated_at": timestamp(organization.updated_at),
        "is_default": organization.is_default,
    }
