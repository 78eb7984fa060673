"""Add, find and delete this stack's license in coderd, and no other license.

Coderd answers 500 to a duplicate, returns an empty list to users who may not see licenses, and
returns no license by id.
"""

from collections.abc import Iterable

from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import (
    CoderdError,
    DuplicateLicense,
    ForbiddenByRole,
    NoAnswer,
    NotFound,
    RouteAbsent,
    ServerFault,
)
from coder_stack.coderd.license import LicenseClaims, find_license
from coder_stack.coderd.models import LicenseRecord


def stored(coderd: Coderd) -> tuple[LicenseRecord, ...]:
    """List all licenses; raise ForbiddenByRole if the list is empty for lack of rights (U1)."""
    found = coderd.licenses()
    if not found and "owner" not in {role.name for role in coderd.user().roles}:
        why = "the token's user may not see licenses; use one of an owner."
        raise ForbiddenByRole("list licenses", why)
    return found


def find(
    claims: LicenseClaims, license_id: str, licenses: Iterable[LicenseRecord]
) -> LicenseRecord | None:
    """Find ours by content; among copies of the same content, the one with the known id."""
    same = [each for each in licenses if find_license(claims, [each])]
    return next((each for each in same if str(each.id) == license_id), next(iter(same), None))


def apply(coderd: Coderd, jwt: SecretStr, claims: LicenseClaims) -> LicenseRecord:
    """Upload the license; after a doubtful error, look it up before repeating it (L5, U3)."""
    try:
        return coderd.add_license(jwt)
    except CoderdError as error:
        # coderd answers 500 `Failed to update entitlements`, and has stored the license.
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
    """Delete the license with that id if its content is ours, unless it is gone already."""
    try:
        ours = [each for each in stored(coderd) if str(each.id) == license_id]
        if find_license(claims, ours):
            coderd.delete_license(int(license_id))
    except (NotFound, RouteAbsent):
        return
