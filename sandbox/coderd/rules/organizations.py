"""Find, create, change and delete organizations."""

from sandbox.coderd.rules.body import Body, Field, RequestType
from sandbox.coderd.rules.go_text import quoted
from sandbox.coderd.rules.identifiers import NIL_UUID, as_uuid, new_uuid
from sandbox.coderd.rules.permissions import Actor
from sandbox.coderd.rules.records import OrganizationRow
from sandbox.coderd.rules.refusal import RBAC_FORBIDDEN, FieldFault, RefusalError, not_found
from sandbox.coderd.rules.state import CoderdState
from sandbox.coderd.rules.versions import CONTENTS_COUNTED

_NAMES = (
    Field("display_name", tags=("omitempty", "organization_display_name")),
    Field("description"),
    Field("icon"),
)
NEW_ORGANIZATION = RequestType(
    "CreateOrganizationRequest", (Field("name", tags=("required", "organization_name")), *_NAMES)
)
CHANGED_ORGANIZATION = RequestType(
    "UpdateOrganizationRequest", (Field("name", tags=("omitempty", "organization_name")), *_NAMES)
)
_RESERVED = 'Organization name "default" is reserved.'


def find_organization(state: CoderdState, actor: Actor | None, reference: str) -> OrganizationRow:
    """Find by name in any case, id, `default` or the nil UUID; without an actor, all are visible.

    coderd finds deleted organizations by id only.
    """
    found = _lookup(state, reference)
    if found is None or (actor is not None and not actor.may_read_organization(found.id)):
        raise not_found()
    return found


def list_organizations(state: CoderdState, actor: Actor) -> list[OrganizationRow]:
    """List the organizations that the actor may read."""
    return [
        organization
        for organization in state.records.organizations.values()
        if not organization.deleted and actor.may_read_organization(organization.id)
    ]


def create_organization(state: CoderdState, actor: Actor, body: Body) -> OrganizationRow:
    """Create an organization with the actor as its first member."""
    name = body.text("name")
    if name == "default":
        raise RefusalError(400, _RESERVED)
    if by_name(state, name):
        raise RefusalError(409, "Organization already exists with that name.")
    if not actor.is_owner:
        message = "Internal error inserting organization member."
        raise RefusalError(
            500, message, f"execute transaction: create organization: {RBAC_FORBIDDEN}"
        )
    organization = add_organization(state, body)
    actor.user.organizations[organization.id] = []
    return organization


def add_organization(state: CoderdState, body: Body) -> OrganizationRow:
    """Store an organization without a permission check."""
    name, now = body.text("name"), state.now()
    organization = OrganizationRow(
        id=new_uuid(),
        name=name,
        display_name=body.text("display_name") or name,
        icon=body.text("icon"),
        description=body.text("description"),
        created_at=now,
        updated_at=now,
    )
    state.records.organizations[organization.id] = organization
    return organization


def change_organization(
    state: CoderdState, actor: Actor, organization: OrganizationRow, body: Body
) -> OrganizationRow:
    """Change the given fields; empty names are ignored."""
    name = body.text("name")
    if name == "default":
        raise RefusalError(400, _RESERVED)
    if not actor.may_manage_organization(organization.id):
        raise not_found()
    namesake = by_name(state, name) if name else None
    # The database's unique index does not include deleted organizations.
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
    organization.updated_at = state.now()
    return organization


def delete_organization(state: CoderdState, actor: Actor, organization: OrganizationRow) -> None:
    """Mark as deleted, unless something besides its first member is left in it; repeatable."""
    if organization.is_default:
        raise RefusalError(400, "Default organization cannot be deleted.")
    counts = _contents(state, organization) if not organization.deleted else {}
    blockers = [f"{n} {what}{'s' * (n > 1)}" for what, n in counts.items() if n > 0]
    allowed = actor.may_manage_organization(organization.id)
    counted = state.has(CONTENTS_COUNTED)
    if not allowed and not (counted and actor.may_read_workspaces(organization.id)):
        # coderd cannot count the contents for this actor, and returns the database's error.
        raise _undeleted(RBAC_FORBIDDEN)
    if blockers and not counted:
        raise _undeleted(f"pq: cannot delete organization: {_as_trigger_says(counts)}")
    if blockers or not allowed:
        detail = f"This organization has {', '.join(blockers)} that must be deleted first."
        raise RefusalError(500, "Error deleting organization.", detail)
    organization.deleted = True
    organization.updated_at = state.now()


def by_name(state: CoderdState, name: str) -> OrganizationRow | None:
    """Find one that is not deleted, in any case."""
    for organization in state.records.organizations.values():
        if not organization.deleted and organization.name.lower() == name.lower():
            return organization
    return None


def _undeleted(why: str) -> RefusalError:
    detail = f"delete organization: execute transaction: delete organization: {why}"
    return RefusalError(500, "Internal error deleting organization.", detail)


def _as_trigger_says(counts: dict[str, int]) -> str:
    """Return what the database's trigger says; it looks for members last."""
    workspaces, keys = counts["workspace"], counts["provisioner key"]
    what = f"{workspaces} workspaces, 0 templates, and {keys} provisioner keys"
    what = what if workspaces or keys else f"{counts['member']} members"
    return f"organization has {what} that must be deleted first"


def _contents(state: CoderdState, organization: OrganizationRow) -> dict[str, int]:
    records = state.records
    rows = {
        "workspace": [w.organization_id for w in records.workspaces.values()],
        "member": [id_ for user in records.users.values() for id_ in user.organizations],
        "provisioner key": [k.organization_id for k in records.provisioner_keys.values()],
    }
    counts = {what: ids.count(organization.id) for what, ids in rows.items()}
    counts["member"] -= 1
    return counts


def _lookup(state: CoderdState, reference: str) -> OrganizationRow | None:
    if reference in {"default", NIL_UUID}:
        return state.default_organization()
    identifier = as_uuid(reference)
    if identifier:
        return state.records.organizations.get(identifier)
    return by_name(state, reference)
