"""Provisioner keys: create, list, delete, authenticate. A key never changes."""

from sandbox.coderd.rules.body import MAPPING, Body, Field, RequestType
from sandbox.coderd.rules.identifiers import hashed, new_uuid, random_text
from sandbox.coderd.rules.permissions import Actor
from sandbox.coderd.rules.records import OrganizationRow, ProvisionerKeyRow
from sandbox.coderd.rules.refusal import (
    RBAC_FORBIDDEN,
    FieldFault,
    RefusalError,
    internal,
    not_found,
)
from sandbox.coderd.rules.state import CoderdState

NEW_KEY = RequestType("CreateProvisionerKeyRequest", (Field("name"), Field("tags", MAPPING)))
SECRET_LENGTH = 43
LONGEST_NAME = 64
BUILT_IN_ID = "00000000-0000-0000-0000-000000000001"
USER_AUTH_ID = "00000000-0000-0000-0000-000000000002"
PSK_ID = "00000000-0000-0000-0000-000000000003"
RESERVED = {"built-in": BUILT_IN_ID, "user-auth": USER_AUTH_ID, "psk": PSK_ID}


def create_key(state: CoderdState, actor: Actor, organization: OrganizationRow, body: Body) -> str:
    """Store a key with a lower-case name, and return its secret."""
    name = body.text("name")
    if not name:
        raise _bad_name("Name is required")
    if len(name.encode()) > LONGEST_NAME:
        raise _bad_name(f"Name must be at most {LONGEST_NAME} characters")
    if name.lower() in RESERVED:
        raise _bad_name(f"Name cannot be reserved name '{name}'")
    if not actor.may_manage_provisioner_keys(organization.id):
        raise internal(RBAC_FORBIDDEN)
    if _stored(state, organization, name):
        message = f"Provisioner key with name '{name}' already exists in organization"
        raise RefusalError(409, message)
    secret = random_text(SECRET_LENGTH)
    key = ProvisionerKeyRow(
        id=new_uuid(),
        organization_id=organization.id,
        name=name.lower(),
        tags=body.mapping("tags"),
        secret_hash=hashed(secret),
        created_at=state.now(),
    )
    state.records.provisioner_keys[key.id] = key
    return secret


def list_keys(
    state: CoderdState, actor: Actor, organization: OrganizationRow
) -> list[ProvisionerKeyRow]:
    """List keys, oldest first, without the reserved ones."""
    if not actor.may_read_provisioner_keys(organization.id):
        return []
    keys = [
        key
        for key in state.records.provisioner_keys.values()
        if key.organization_id == organization.id
    ]
    return sorted(keys, key=lambda key: key.created_at)


def reserved_keys(state: CoderdState, organization: OrganizationRow) -> list[ProvisionerKeyRow]:
    """Return the reserved keys: three in the default organization, one in others."""
    default = state.default_organization()
    names = RESERVED if organization.id == default.id else {"user-auth": USER_AUTH_ID}
    return [
        ProvisionerKeyRow(
            id=identifier,
            organization_id=organization.id,
            name=name,
            tags={},
            secret_hash="",
            created_at=default.created_at,
        )
        for name, identifier in names.items()
    ]


def find_key(
    state: CoderdState, actor: Actor, organization: OrganizationRow, name: str
) -> ProvisionerKeyRow:
    """Find by name in any case; reserved keys exist in the default organization only."""
    stored = _stored(state, organization, name)
    if organization.is_default and name.lower() in RESERVED:
        stored = next(k for k in reserved_keys(state, organization) if k.name == name.lower())
    if stored is None or not actor.may_read_provisioner_keys(organization.id):
        raise not_found()
    return stored


def delete_key(state: CoderdState, actor: Actor, key: ProvisionerKeyRow) -> None:
    """Delete a key and its daemons."""
    if key.name in RESERVED:
        raise RefusalError(400, f"Cannot delete reserved '{key.name}' provisioner key")
    if not actor.may_manage_provisioner_keys(key.organization_id):
        raise internal(RBAC_FORBIDDEN)
    del state.records.provisioner_keys[key.id]
    daemons = state.records.daemons
    for daemon in [d for d in daemons.values() if d.key_id == key.id]:
        del daemons[daemon.id]


def authenticate(state: CoderdState, secret: str, psk: str) -> ProvisionerKeyRow:
    """Return the key of a secret, or refuse with 400 or 401."""
    if not secret:
        raise RefusalError(401, "provisioner daemon key required")
    if psk:
        message = "provisioner daemon key and psk provided, but only one is allowed"
        raise RefusalError(400, message)
    if len(secret.encode()) != SECRET_LENGTH:
        detail = f"must be {SECRET_LENGTH} characters"
        raise RefusalError(400, "provisioner daemon key invalid", detail)
    wanted = hashed(secret)
    for key in state.records.provisioner_keys.values():
        if key.secret_hash == wanted:
            return key
    raise RefusalError(401, "provisioner daemon key invalid")


def _stored(
    state: CoderdState, organization: OrganizationRow, name: str
) -> ProvisionerKeyRow | None:
    for key in state.records.provisioner_keys.values():
        if key.organization_id == organization.id and key.name == name.lower():
            return key
    return None


def _bad_name(message: str) -> RefusalError:
    return RefusalError(400, message, faults=(FieldFault("name", message),))
