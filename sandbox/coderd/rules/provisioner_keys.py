"""Provisioner keys: made once, never changed, deleted by name; a credential for daemons."""

from sandbox.coderd.rules.body import MAPPING, Body, Field, Shape
from sandbox.coderd.rules.identifiers import hashed, new_uuid, random_text
from sandbox.coderd.rules.permissions import Caller
from sandbox.coderd.rules.records import Organization, ProvisionerKey
from sandbox.coderd.rules.refusal import (
    RBAC_FORBIDDEN,
    FieldFault,
    RefusalError,
    internal,
    not_found,
)
from sandbox.coderd.rules.world import World

NEW_KEY = Shape("CreateProvisionerKeyRequest", (Field("name"), Field("tags", MAPPING)))
SECRET_LENGTH = 43
LONGEST_NAME = 64
BUILT_IN_ID = "00000000-0000-0000-0000-000000000001"
USER_AUTH_ID = "00000000-0000-0000-0000-000000000002"
PSK_ID = "00000000-0000-0000-0000-000000000003"
RESERVED = {"built-in": BUILT_IN_ID, "user-auth": USER_AUTH_ID, "psk": PSK_ID}


def create_key(world: World, caller: Caller, organization: Organization, body: Body) -> str:
    """Store a key under its lower-cased name and return the secret, the only time it is known."""
    name = body.text("name")
    if not name:
        raise _bad_name("Name is required")
    if len(name.encode()) > LONGEST_NAME:
        raise _bad_name(f"Name must be at most {LONGEST_NAME} characters")
    if name.lower() in RESERVED:
        raise _bad_name(f"Name cannot be reserved name '{name}'")
    if not caller.may_manage_provisioner_keys(organization.id):
        raise internal(RBAC_FORBIDDEN)
    if _stored(world, organization, name):
        message = f"Provisioner key with name '{name}' already exists in organization"
        raise RefusalError(409, message)
    secret = random_text(SECRET_LENGTH)
    key = ProvisionerKey(
        id=new_uuid(),
        organization_id=organization.id,
        name=name.lower(),
        tags=body.mapping("tags"),
        secret_hash=hashed(secret),
        created_at=world.now(),
    )
    world.records.provisioner_keys[key.id] = key
    return secret


def list_keys(world: World, caller: Caller, organization: Organization) -> list[ProvisionerKey]:
    """Oldest first, without the reserved ones."""
    if not caller.may_read_provisioner_keys(organization.id):
        return []
    keys = [
        key
        for key in world.records.provisioner_keys.values()
        if key.organization_id == organization.id
    ]
    return sorted(keys, key=lambda key: key.created_at)


def reserved_keys(world: World, organization: Organization) -> list[ProvisionerKey]:
    """What the list by daemons shows besides: three rows in the default organization, else one."""
    default = world.default_organization()
    names = RESERVED if organization.id == default.id else {"user-auth": USER_AUTH_ID}
    return [
        ProvisionerKey(
            id=identifier,
            organization_id=organization.id,
            name=name,
            tags={},
            secret_hash="",
            created_at=default.created_at,
        )
        for name, identifier in names.items()
    ]


def find_key(world: World, caller: Caller, organization: Organization, name: str) -> ProvisionerKey:
    """By name in any case; the reserved ones have rows in the default organization only."""
    stored = _stored(world, organization, name)
    if organization.is_default and name.lower() in RESERVED:
        stored = next(k for k in reserved_keys(world, organization) if k.name == name.lower())
    if stored is None or not caller.may_read_provisioner_keys(organization.id):
        raise not_found()
    return stored


def delete_key(world: World, caller: Caller, key: ProvisionerKey) -> None:
    """Delete for good. Its daemons leave the list with it."""
    if key.name in RESERVED:
        raise RefusalError(400, f"Cannot delete reserved '{key.name}' provisioner key")
    if not caller.may_manage_provisioner_keys(key.organization_id):
        raise internal(RBAC_FORBIDDEN)
    del world.records.provisioner_keys[key.id]
    daemons = world.records.daemons
    for daemon in [d for d in daemons.values() if d.key_id == key.id]:
        del daemons[daemon.id]


def authenticate(world: World, secret: str, psk: str) -> ProvisionerKey:
    """The key that this secret belongs to, or the 400/401 that says why not."""
    if not secret:
        raise RefusalError(401, "provisioner daemon key required")
    if psk:
        message = "provisioner daemon key and psk provided, but only one is allowed"
        raise RefusalError(400, message)
    if len(secret.encode()) != SECRET_LENGTH:
        detail = f"must be {SECRET_LENGTH} characters"
        raise RefusalError(400, "provisioner daemon key invalid", detail)
    wanted = hashed(secret)
    for key in world.records.provisioner_keys.values():
        if key.secret_hash == wanted:
            return key
    raise RefusalError(401, "provisioner daemon key invalid")


def _stored(world: World, organization: Organization, name: str) -> ProvisionerKey | None:
    for key in world.records.provisioner_keys.values():
        if key.organization_id == organization.id and key.name == name.lower():
            return key
    return None


def _bad_name(message: str) -> RefusalError:
    return RefusalError(400, message, faults=(FieldFault("name", message),))
