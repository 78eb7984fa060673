"""Ours among the licenses that coderd stores: add it, find it, remove it, and nobody else's.

Coderd answers 500 to a duplicate, and an empty list both to "there is none" and to a user who may
not look; it gives no license by id. What to make of that is decided here.
"""

from collections.abc import Iterable

from pydantic import SecretStr

from coder_stack.coderd import (
    Coderd,
    CoderdError,
    DuplicateLicense,
    ForbiddenByRole,
    LicenseClaims,
    LicenseRecord,
    NoAnswer,
    NotFound,
    RouteAbsent,
    ServerFault,
    find_license,
)

__all__ = ["apply", "find", "remove", "stored"]


def stored(coderd: Coderd) -> tuple[LicenseRecord, ...]:
    """All licenses; ForbiddenByRole if the list is empty and we could not see one anyway (U1)."""
    found = coderd.licenses()
    if not found and "owner" not in {role.name for role in coderd.user().roles}:
        why = "the token's user may not see licenses; use one of an owner."
        raise ForbiddenByRole("list licenses", why)
    return found


def find(
    claims: LicenseClaims, license_id: str, licenses: Iterable[LicenseRecord]
) -> LicenseRecord | None:
    """Ours by content; among copies of the same content, the one we know by its id."""
    same = [each for each in licenses if find_license(claims, [each])]
    return next((each for each in same if str(each.id) == license_id), next(iter(same), None))


def apply(coderd: Coderd, jwt: SecretStr, claims: LicenseClaims) -> LicenseRecord:
    """Upload once. A doubtful end is looked up before anything is repeated (L5, U3)."""
    try:
        return coderd.add_license(jwt)
    except CoderdError as error:
        # After `Failed to update entitlements`, a 500, the license is stored all the same.
        doubtful = error.may_have_happened or isinstance(error, DuplicateLicense | ServerFault)
        if not doubtful:
            raise
        kept = find_license(claims, stored(coderd))
        if kept is not None:
            return kept
        if not isinstance(error, NoAnswer):
            raise
    return coderd.add_license(jwt)


def remove(coderd: Coderd, claims: LicenseClaims, license_id: str) -> None:
    """Delete ours by id, if what has that id is ours; gone is fine."""
    try:
        ours = [each for each in stored(coderd) if str(each.id) == license_id]
        if find_license(claims, ours):
            coderd.delete_license(int(license_id))
    except (NotFound, RouteAbsent):
        return
