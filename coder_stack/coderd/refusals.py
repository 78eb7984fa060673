"""Map coderd's error messages to errors, with one table that is tried from top to bottom.

A row with a message applies to any response. A row without one applies only to responses with
coderd's version header.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel

from coder_stack.coderd.errors import (
    CoderdError,
    Conflict,
    DuplicateLicense,
    ForbiddenByRole,
    InvalidLicense,
    InvalidRequest,
    KeyRejected,
    LicenseCheck,
    NotEmpty,
    NotEntitled,
    NotFound,
    PasswordLoginDisabled,
    RouteAbsent,
    ServerFault,
    Unauthenticated,
)
from coder_stack.coderd.models import List, Text
from coder_stack.coderd.request import Request


class _Validation(BaseModel):
    field: Text = ""


class ErrorBody(BaseModel):
    """The body of coderd's errors."""

    message: str
    detail: Text = ""
    validations: List[_Validation] = ()


_GIVE_A_TOKEN = "give a session token (secret config token, or access.tokenSecret)."  # noqa: S105  # no token itself
Maker = Callable[[Request, int, ErrorBody], CoderdError]


def refusal(
    request: Request, status: int, error: ErrorBody, *, trusted: bool
) -> CoderdError | None:
    """Return the error for a body; None if the message is not coderd's."""
    for row in _ROWS:
        if status == row.status and row.fits(error, trusted=trusted):
            return row.make(request, status, error)
    return None


def _error(kind: type[CoderdError], why: str) -> Maker:
    return lambda request, status, _: kind(request.operation, why, status=status)


def _invalid_value(why: str, *fields: str) -> Maker:
    return lambda request, status, _: InvalidRequest(
        request.operation, why, fields=fields, status=status
    )


_no_password_login = _error(
    PasswordLoginDisabled, f"password authentication is disabled in coderd; {_GIVE_A_TOKEN}"
)
_other_login_type = _error(
    PasswordLoginDisabled,
    f"this user logs in to coderd in another way than with a password; {_GIVE_A_TOKEN}",
)
_forbidden = _error(
    ForbiddenByRole, "the token's user lacks the permission; use the token of an owner."
)
_route_absent = _error(
    RouteAbsent,
    "this build of coderd has no such route; the AGPL build lacks the licensed features.",
)
_not_found = _error(NotFound, "coderd has no such object, or the token's user may not see it.")
_conflict = _error(Conflict, "it exists already; look it up, or choose another name.")
_duplicate_license = _error(
    DuplicateLicense, "this license is stored already; find it in the list of licenses."
)
_reserved_name = _invalid_value("coderd reserves this name; choose another one.", "name")
_default_organization = _invalid_value(
    "coderd does not let its default organization be deleted; keep it."
)
_bad_password = _invalid_value(
    "coderd finds the password too weak or too long; choose a longer one of at most 64 bytes.",
    "password",
)
_bad_lifetime = _invalid_value(
    "coderd does not allow this lifetime; ask for one within the maximum of the token settings.",
    "lifetime",
)
_unknown_user = _invalid_value("coderd knows no such user; correct the user's name.", "user")


def _unauthenticated(request: Request, status: int, _: ErrorBody) -> CoderdError:
    why = f"coderd did not accept the {request.credential}; renew it."
    return Unauthenticated(request.operation, why, credential=request.credential, status=status)


def _suspended(request: Request, status: int, _: ErrorBody) -> CoderdError:
    why = "the user is suspended; activate the user or use the token of another one."
    return Unauthenticated(request.operation, why, credential=request.credential, status=status)


def _key_rejected(request: Request, status: int, error: ErrorBody) -> CoderdError:
    if request.auth != "key":
        return _unauthenticated(request, status, error)
    why = "coderd does not know this key; rotate it."
    return KeyRejected(request.operation, why, status=status)


def _not_entitled(request: Request, status: int, _: ErrorBody) -> CoderdError:
    feature = f"the feature {request.feature}" if request.feature else "a feature that it needs"
    why = f"no license of this deployment grants {feature}; add one that does."
    return NotEntitled(request.operation, why, feature=request.feature, status=status)


def _not_empty(request: Request, status: int, error: ErrorBody) -> CoderdError:
    # v2.20 passes on the database's sentence, which also names what there is none of.
    kinds = r"\b[1-9]\d* (?:workspace|template|member|group|provisioner key)s?\b"
    contents = tuple(re.findall(kinds, error.detail))
    # coderd counts nothing if the user may read the organization but not delete it.
    if not contents:
        return _forbidden(request, status, error)
    why = f"it still holds {', '.join(contents)}; remove them first."
    return NotEmpty(request.operation, why, contents=contents, status=status)


def _server_fault(request: Request, status: int, _: ErrorBody) -> CoderdError:
    why = "coderd failed internally; look into its log."
    doubt = request.changes_something
    return ServerFault(request.operation, why, may_have_happened=doubt, status=status)


def _invalid(request: Request, status: int, error: ErrorBody) -> CoderdError:
    # Only fields of the request itself: messages do not repeat a response.
    named = {validation.field for validation in error.validations}
    fields = tuple(sorted(named & {*(request.body or {}), *request.query, "name"}))
    if "license" in fields:
        return _bad_license(request, "empty", status)
    about = f" of {', '.join(fields)}" if fields else ""
    why = f"coderd does not allow the value{about}; correct it."
    return InvalidRequest(request.operation, why, fields=fields, status=status)


def _wrong_deployment(request: Request, status: int, _: ErrorBody) -> CoderdError:
    return _bad_license(request, "deployment", status)


def _invalid_license(request: Request, status: int, error: ErrorBody) -> CoderdError:
    for words, check in _LICENSE_CHECKS.items():
        if words in error.detail:
            return _bad_license(request, check, status)
    return _bad_license(request, "other", status)


def _bad_license(request: Request, check: LicenseCheck, status: int) -> CoderdError:
    why = f"coderd does not accept the license: {_LICENSE_FAULTS[check]}."
    return InvalidLicense(request.operation, why, check=check, status=status)


_LICENSE_CHECKS: dict[str, LicenseCheck] = {
    "multiple issues": "signature",
    "must be version": "version",
    "missing iat": "iat",
    "missing nbf": "nbf",
    "missing license_expires": "license_expires",
    "missing exp": "exp",
    "valid account type": "account_type",
    "valid account ID": "account_id",
}
_LICENSE_FAULTS: dict[LicenseCheck, str] = {
    "empty": "it is empty; check where it comes from",
    "signature": "it is malformed, expired, issued in the future or not signed by Coder; "
    "check it with `coder-stack license inspect`",
    "version": "it is not of version 3; ask for a current one",
    "iat": "its claim iat is missing or wrong; ask for a new one",
    "nbf": "its claim nbf is missing or wrong; ask for a new one",
    "license_expires": "its claim license_expires is missing or too far ahead; ask for a new one",
    "exp": "its claim exp is missing or wrong; ask for a new one",
    "account_type": "its claim account_type is missing; ask for a new one",
    "account_id": "its claim account_id is missing; ask for a new one",
    "deployment": "it is bound to another deployment; ask for one with this deployment's id",
    "other": "it fails a check this program does not know; look into coderd's log",
}


@dataclass(frozen=True)
class _Row:
    status: int
    make: Maker
    message: str | None = None
    detail: str | None = None

    def fits(self, error: ErrorBody, *, trusted: bool) -> bool:
        if self.message is None and self.detail is None:
            return trusted
        in_message = self.message is None or re.search(self.message, error.message)
        in_detail = self.detail is None or re.search(self.detail, error.detail)
        return bool(in_message and in_detail)


_KEY_INVALID = r"^provisioner daemon key invalid|must be 43 characters"
_ROWS = (
    _Row(400, _invalid_license, r"^Invalid license"),
    _Row(400, _wrong_deployment, r"^License cannot be used on this deployment!"),
    _Row(400, _key_rejected, _KEY_INVALID),
    _Row(400, _bad_password, r"^Password is invalid"),
    _Row(400, _bad_lifetime, r"^Failed to validate create API key request", r"lifetime"),
    _Row(400, _unknown_user, r'^"user" must be an existing uuid or username'),
    _Row(400, _invalid, r"^Validation failed\.$|^Request body must be valid JSON\.$"),
    _Row(400, _invalid, r"^Name (is required|must be at most|cannot be reserved name)"),
    _Row(400, _invalid, r'^Cannot (delete|update) |^The name "primary" is reserved'),
    _Row(400, _reserved_name, r"^Organization name .* is reserved\.$"),
    _Row(400, _default_organization, r"^Default organization cannot be deleted"),
    _Row(400, _invalid, r"^Failed to (validate )?create API key"),
    _Row(400, _invalid),
    _Row(401, _key_rejected, _KEY_INVALID),
    _Row(401, _suspended, r"^Your account is suspended|^User is not active"),
    _Row(401, _suspended, detail=r"^User is not active"),
    _Row(401, _unauthenticated, r"^You are signed out|^Incorrect email or password"),
    _Row(401, _unauthenticated, r"^provisioner daemon key required"),
    _Row(401, _unauthenticated),
    _Row(403, _not_entitled, r" is an? (Premium|Enterprise) feature\. Contact sales!$"),
    _Row(403, _no_password_login, r"^Password authentication is disabled"),
    _Row(403, _other_login_type, r"^Incorrect login type"),
    _Row(403, _forbidden, r"^Forbidden\.$|^You are not authorized to use this endpoint"),
    _Row(403, _forbidden),
    _Row(404, _route_absent, r"^Route not found\.$"),
    _Row(404, _not_found, r"^Resource not found or you do not have access to this resource"),
    _Row(404, _not_found, r"^Unknown license ID|^License ID must be an integer"),
    _Row(404, _not_found, r"^The initial user has not been created"),
    _Row(404, _not_found),
    _Row(409, _conflict, r"already exists|^The initial user has already been created"),
    _Row(409, _conflict),
    _Row(500, _forbidden, detail=r"rbac: forbidden"),
    _Row(500, _duplicate_license, detail=r"licenses_jwt_key"),
    _Row(500, _not_empty, r"^Error deleting organization\.$"),
    _Row(500, _not_empty, detail=r"pq: cannot delete organization: organization has \d"),
    _Row(500, _conflict, detail=r"duplicate key value violates unique constraint"),
    _Row(500, _server_fault, r"^(An internal server error occurred|Internal error)"),
    _Row(500, _server_fault, r"^(Failed|Unable) to "),
    _Row(500, _server_fault),
)
