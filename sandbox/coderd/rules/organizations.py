"""Organizations: finding them as coderd's routes do, adding and removing them."""

from sandbox.coderd.rules.body import Body, Field, Shape
from sandbox.coderd.rules.go_text import quoted
from sandbox.coderd.rules.identifiers import NIL_UUID, as_uuid, new_uuid
from sandbox.coderd.rules.permissions import Caller
from sandbox.coderd.rules.records import Organization
from sandbox.coderd.rules.refusal import RBAC_FORBIDDEN, FieldFault, RefusalError, not_found
from sandbox.coderd.rules.world import World

_NAMES = (
    Field("display_name", tags=("omitempty", "organization_display_name")),
    Field("description"),
    Field("icon"),
)
NEW_ORGANIZATION = Shape(
    "CreateOrganizationRequest", (Field("name", tags=("required", "organization_name")), *_NAMES)
)
CHANGED_ORGANIZATION = Shape(
    "UpdateOrganizationRequest", (Field("name", tags=("omitempty", "organization_name")), *_NAMES)
)
_RESERVED = 'Organization name "default" is reserved.'


def find_organization(world: World, caller: Caller | None, reference: str) -> Organization:
    """By name in any case, id, `default` or the nil UUID; without a caller nothing is hidden.

    By id coderd still finds deleted organizations, by name it does not.
    """
    found = _lookup(world, reference)
    if found is None or (caller is not None and not caller.may_read_organization(found.id)):
        raise not_found()
    return found


def list_organizations(world: World, caller: Caller) -> list[Organization]:
    """Those the caller may read."""
    return [
        organization
        for organization in world.records.organizations.values()
        if not organization.deleted and caller.may_read_organization(organization.id)
    ]


def create_organization(world: World, caller: Caller, body: Body) -> Organization:
    """Add one, with the caller as its first member."""
    name = body.text("name")
    if name == "default":
        raise RefusalError(400, _RESERVED)
    if by_name(world, name):
        raise RefusalError(409, "Organization already exists with that name.")
    if not caller.is_owner:
        message = "Internal error inserting organization member."
        raise RefusalError(
            500, message, f"execute transaction: create organization: {RBAC_FORBIDDEN}"
        )
    organization = add_organization(world, body)
    caller.user.organizations[organization.id] = []
    return organization


def add_organization(world: World, body: Body) -> Organization:
    """Write the row, whoever asks."""
    name, now = body.text("name"), world.now()
    organization = Organization(
        id=new_uuid(),
        name=name,
        display_name=body.text("display_name") or name,
        icon=body.text("icon"),
        description=body.text("description"),
        created_at=now,
        updated_at=now,
    )
    world.records.organizations[organization.id] = organization
    return organization


def change_organization(
    world: World, caller: Caller, organization: Organization, body: Body
) -> Organization:
    """A partial update: empty names and absent texts keep what is there."""
    name = body.text("name")
    if name == "default":
        raise RefusalError(400, _RESERVED)
    if not caller.may_manage_organization(organization.id):
        raise not_found()
    namesake = by_name(world, name) if name else None
    # The database's unique index leaves deleted organizations out.
    if namesake and namesake.id != organization.id and not organization.deleted:
        raise RefusalError(
            409,
            f"Organization already exists with the name {quoted(name)}.",
            faults=(FieldFault("name", "This value is already in use and should be unique."),),
        )
    organization.name = name or organization.name
    organization.display_name = body.text("display_name") or organization.display_name
    if body.has("description"):
        organization.description = body.text("description")
    if body.has("icon"):
        organization.icon = body.text("icon")
    organization.updated_at = world.now()
    return organization


def delete_organization(world: World, caller: Caller, organization: Organization) -> None:
    """Soft delete, blocked by whatever is left in it but its first member; again is no error."""
    if organization.is_default:
        raise RefusalError(400, "Default organization cannot be deleted.")
    blockers = _contents(world, organization) if not organization.deleted else []
    allowed = caller.may_manage_organization(organization.id)
    if not allowed and not caller.may_read_workspaces(organization.id):
        # coderd cannot count for this caller what is left, and says what the database said.
        detail = f"delete organization: execute transaction: delete organization: {RBAC_FORBIDDEN}"
        raise RefusalError(500, "Internal error deleting organization.", detail)
    if blockers or not allowed:
        detail = f"This organization has {', '.join(blockers)} that must be deleted first."
        raise RefusalError(500, "Error deleting organization.", detail)
    organization.deleted = True
    organization.updated_at = world.now()


def by_name(world: World, name: str) -> Organization | None:
    """Find one that is not deleted, in any case."""
    for organization in world.records.organizations.values():
        if not organization.deleted and organization.name.lower() == name.lower():
            return organization
    return None


def _contents(world: World, organization: Organization) -> list[str]:
    records = world.records
    rows = {
        "workspace": [w.organization_id for w in records.workspaces.values()],
        "member": [place for user in records.users.values() for place in user.organizations],
        "provisioner key": [k.organization_id for k in records.provisioner_keys.values()],
    }
    counts = {what: places.count(organization.id) for what, places in rows.items()}
    counts["member"] -= 1
    return [f"{n} {what}{'s' * (n > 1)}" for what, n in counts.items() if n > 0]


def _lookup(world: World, reference: str) -> Organization | None:
    if reference in {"default", NIL_UUID}:
        return world.default_organization()
    identifier = as_uuid(reference)
    if identifier:
        return world.records.organizations.get(identifier)
    return by_name(world, reference)
