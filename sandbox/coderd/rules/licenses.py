"""Add, list and delete licenses, and refresh entitlements."""

import json
from datetime import timedelta

from sandbox.coderd.rules import license_claims
from sandbox.coderd.rules.body import Body, Field, RequestType
from sandbox.coderd.rules.go_text import parse_int32, quoted
from sandbox.coderd.rules.identifiers import as_uuid, new_uuid
from sandbox.coderd.rules.permissions import Actor
from sandbox.coderd.rules.records import LicenseRow
from sandbox.coderd.rules.refusal import RefusalError, forbidden
from sandbox.coderd.rules.state import CoderdState

NEW_LICENSE = RequestType("AddLicenseRequest", (Field("license", tags=("required",)),))
_MINUTE = timedelta(minutes=1)


def require_permission(actor: Actor) -> None:
    """Refuse actors who may not manage licenses; coderd does so before it reads the body."""
    if not actor.may_manage_licenses():
        raise forbidden()


def add_license(state: CoderdState, body: Body) -> LicenseRow:
    """Verify and store a license, and refresh entitlements."""
    text = body.text("license")
    try:
        claims = license_claims.parse(text, state.now(), ignore_start=True)
    except license_claims.InvalidLicenseError as error:
        raise RefusalError(400, "Invalid license", str(error)) from error
    deployment = state.records.deployment_id
    if claims.deployment_ids and deployment not in claims.deployment_ids:
        locked = " ".join(quoted(identifier) for identifier in claims.deployment_ids)
        detail = (
            f"The provided license is locked to the following deployments: [{locked}]. "
            f"Your deployment identifier is {quoted(deployment)}. Please contact sales."
        )
        raise RefusalError(400, "License cannot be used on this deployment!", detail)
    if any(stored.jwt == text for stored in state.records.licenses.values()):
        detail = 'pq: duplicate key value violates unique constraint "licenses_jwt_key"'
        raise RefusalError(500, "Unable to add license to database", detail)
    stored = LicenseRow(
        id=state.records.next_license_id,
        uuid=as_uuid(claims.jti) or new_uuid(),
        jwt=text,
        exp=claims.expires,
        uploaded_at=state.now(),
    )
    state.records.next_license_id += 1
    state.records.licenses[stored.id] = stored
    state.refresh_entitlements()
    return stored


def list_licenses(state: CoderdState, actor: Actor) -> list[LicenseRow]:
    """List licenses by id; an actor without permission gets an empty list."""
    if not actor.may_manage_licenses():
        return []
    return sorted(state.records.licenses.values(), key=lambda stored: stored.id)


def claims_json(stored: LicenseRow) -> dict[str, object]:
    """Return the payload, with keys sorted as Go does."""
    claims = license_claims.decode_payload(stored.jwt)
    return json.loads(json.dumps(claims, sort_keys=True))


def delete_license(state: CoderdState, actor: Actor, reference: str) -> None:
    """Delete a license; the same text may be added again and gets a new id."""
    try:
        identifier = parse_int32(reference)
    except ValueError as error:
        raise RefusalError(404, "License ID must be an integer") from error
    require_permission(actor)
    if state.records.licenses.pop(identifier, None) is None:
        raise RefusalError(404, "Unknown license ID")
    state.refresh_entitlements()


def force_refresh(state: CoderdState, actor: Actor) -> None:
    """Refresh entitlements, unless a refresh of any kind was less than a minute ago."""
    require_permission(actor)
    since = state.now() - state.entitlements.refreshed_at
    if since < _MINUTE:
        wait = int((_MINUTE - since).total_seconds())
        message = (
            "Entitlements already recently refreshed, please wait "
            f"{wait} seconds to force a new refresh"
        )
        raise RefusalError(400, message, headers=(("Retry-After", str(wait)),))
    state.refresh_entitlements()
