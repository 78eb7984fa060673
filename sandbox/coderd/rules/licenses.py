"""Uploading and removing licenses: no update exists, and only the text must be unique."""

import json
from datetime import timedelta

from sandbox.coderd.rules import license_claims
from sandbox.coderd.rules.body import Body, Field, Shape
from sandbox.coderd.rules.go_text import parse_int32, quoted
from sandbox.coderd.rules.identifiers import as_uuid, new_uuid
from sandbox.coderd.rules.permissions import Caller
from sandbox.coderd.rules.records import License
from sandbox.coderd.rules.refusal import RefusalError, forbidden
from sandbox.coderd.rules.world import World

NEW_LICENSE = Shape("AddLicenseRequest", (Field("license", tags=("required",)),))
_MINUTE = timedelta(minutes=1)


def require_permission(caller: Caller) -> None:
    """Asked before the body is even read."""
    if not caller.may_manage_licenses():
        raise forbidden()


def add_license(world: World, body: Body) -> License:
    """Verify, store byte for byte, and recompute entitlements before answering."""
    text = body.text("license")
    try:
        claims = license_claims.parse(text, world.now(), ignore_start=True)
    except license_claims.InvalidLicenseError as error:
        raise RefusalError(400, "Invalid license", str(error)) from error
    deployment = world.records.deployment_id
    if claims.deployment_ids and deployment not in claims.deployment_ids:
        locked = " ".join(quoted(identifier) for identifier in claims.deployment_ids)
        detail = (
            f"The provided license is locked to the following deployments: [{locked}]. "
            f"Your deployment identifier is {quoted(deployment)}. Please contact sales."
        )
        raise RefusalError(400, "License cannot be used on this deployment!", detail)
    if any(stored.jwt == text for stored in world.records.licenses.values()):
        detail = 'pq: duplicate key value violates unique constraint "licenses_jwt_key"'
        raise RefusalError(500, "Unable to add license to database", detail)
    stored = License(
        id=world.records.next_license_id,
        uuid=as_uuid(claims.jti) or new_uuid(),
        jwt=text,
        exp=claims.expires,
        uploaded_at=world.now(),
    )
    world.records.next_license_id += 1
    world.records.licenses[stored.id] = stored
    world.refresh_entitlements()
    return stored


def list_licenses(world: World, caller: Caller) -> list[License]:
    """By id; whoever may not see them sees none, which looks the same as there being none."""
    if not caller.may_manage_licenses():
        return []
    return sorted(world.records.licenses.values(), key=lambda stored: stored.id)


def claims_shown(stored: License) -> dict[str, object]:
    """The payload verbatim, keys in order as Go writes a map."""
    claims = license_claims.decode_payload(stored.jwt)
    return json.loads(json.dumps(claims, sort_keys=True))


def delete_license(world: World, caller: Caller, reference: str) -> None:
    """Hard delete; the same text may come back and gets a new id."""
    try:
        identifier = parse_int32(reference)
    except ValueError as error:
        raise RefusalError(404, "License ID must be an integer") from error
    require_permission(caller)
    if world.records.licenses.pop(identifier, None) is None:
        raise RefusalError(404, "Unknown license ID")
    world.refresh_entitlements()


def force_refresh(world: World, caller: Caller) -> None:
    """Recompute entitlements now, at most once a minute counting every kind of refresh."""
    require_permission(caller)
    since = world.now() - world.entitlements.refreshed_at
    if since < _MINUTE:
        wait = int((_MINUTE - since).total_seconds())
        message = (
            "Entitlements already recently refreshed, please wait "
            f"{wait} seconds to force a new refresh"
        )
        raise RefusalError(400, message, headers=(("Retry-After", str(wait)),))
    world.refresh_entitlements()
