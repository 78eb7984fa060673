"""Section 4: organizations. Every build reads them; the enterprise one adds and removes them."""

from sandbox.coderd.answers import Answer, as_json, message
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.routes import auth
from sandbox.coderd.rules import body, organizations
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.records import Organization


def add_routes(router: Router) -> None:
    """What every build has."""
    router.mount("/organizations", auth.signed_in)
    router.mount("/organizations/{organization}", auth.signed_in, auth.organization_of_path)
    router.add("GET", "/organizations", list_organizations, auth.signed_in)
    one = (auth.signed_in, auth.organization_of_path)
    router.add("GET", "/organizations/{organization}", show_organization, *one)


def add_enterprise_routes(router: Router) -> None:
    """What needs `multiple_organizations`, asked before the organization is looked up."""
    licensed = auth.licensed("multiple_organizations")
    router.add("POST", "/organizations", create_organization, auth.signed_in, licensed)
    one = (auth.signed_in, licensed, auth.organization_of_path)
    router.add("PATCH", "/organizations/{organization}", change_organization, *one)
    router.add("DELETE", "/organizations/{organization}", delete_organization, *one)


def list_organizations(call: Call) -> Answer:
    """GET /organizations."""
    found = organizations.list_organizations(call.world, call.caller)
    return as_json(200, [shown(organization) for organization in found])


def show_organization(call: Call) -> Answer:
    """GET /organizations/{organization}."""
    return as_json(200, shown(call.organization))


def create_organization(call: Call) -> Answer:
    """POST /organizations."""
    request = body.read(call.body, organizations.NEW_ORGANIZATION)
    created = organizations.create_organization(call.world, call.caller, request)
    return as_json(201, shown(created))


def change_organization(call: Call) -> Answer:
    """PATCH /organizations/{organization}."""
    request = body.read(call.body, organizations.CHANGED_ORGANIZATION)
    changed = organizations.change_organization(call.world, call.caller, call.organization, request)
    return as_json(200, shown(changed))


def delete_organization(call: Call) -> Answer:
    """DELETE /organizations/{organization}."""
    organizations.delete_organization(call.world, call.caller, call.organization)
    return message(200, "Organization has been deleted.")


def shown(organization: Organization) -> dict[str, object]:
    """An organization as the API shows it."""
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
