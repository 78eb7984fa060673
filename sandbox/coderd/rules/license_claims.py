"""Verify a license in coderd's order: signature, dates, then each claim.

All errors of the JWT itself have the same message.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from sandbox.coderd.rules import license_key

MULTIPLE_ISSUES = "license has multiple issues; contact support"
LONGEST_TERM = timedelta(days=5 * 365)


class InvalidLicenseError(Exception):
    """The license is invalid; the text is coderd's."""


class NotValidYetError(Exception):
    """The license is valid, but starts later."""


@dataclass(frozen=True)
class Claims:
    """The claims of a valid license."""

    jti: str
    not_before: datetime
    issued_at: datetime
    expires: datetime
    license_expires: datetime
    trial: bool
    feature_set: str
    features: dict[str, int]
    require_telemetry: bool
    deployment_ids: tuple[str, ...]
    addons: tuple[str, ...]


def decode_payload(text: str) -> dict[str, object]:
    """Return the claims without verification, for the list of licenses."""
    return _object(license_key.segment(text.split(".")[1]))


def parse(text: str, now: datetime, *, ignore_start: bool = False) -> Claims:
    """Verify a license and return its claims; `ignore_start` accepts a start in the future."""
    payload = _verified_payload(text)
    dates = {name: _date(payload, name) for name in ("iat", "nbf", "exp", "license_expires")}
    expired = dates["exp"] is not None and now >= dates["exp"]
    issued_later = dates["iat"] is not None and now < dates["iat"]
    if expired or issued_later:
        raise InvalidLicenseError(MULTIPLE_ISSUES)
    starts_later = dates["nbf"] is not None and now < dates["nbf"]
    if starts_later and not ignore_start:
        raise NotValidYetError
    return _checked(payload, dates, now)


def _verified_payload(text: str) -> dict[str, object]:
    try:
        head, body, signature = text.split(".")
        header = _object(license_key.segment(head))
        payload = _object(license_key.segment(body))
        _check_types(payload)
        signed = f"{head}.{body}".encode()
        genuine = header.get("alg") == "EdDSA" and license_key.verifies(
            signed, license_key.segment(signature), header.get("kid")
        )
    except ValueError as error:
        raise InvalidLicenseError(MULTIPLE_ISSUES) from error
    if not genuine:
        raise InvalidLicenseError(MULTIPLE_ISSUES)
    return payload


def _checked(
    payload: dict[str, object], dates: dict[str, datetime | None], now: datetime
) -> Claims:
    if payload.get("version") != 3:
        raise InvalidLicenseError("license must be version 3")
    issued = _present(dates["iat"], "iat (issued at)")
    starts = _present(dates["nbf"], "nbf (not before)")
    license_expires = _present(dates["license_expires"], "license_expires")
    if license_expires > now + LONGEST_TERM:
        raise _missing("license_expires")
    expires = _present(dates["exp"], "exp (expires at)")
    if not payload.get("account_type"):
        raise InvalidLicenseError("license must contain valid account type")
    if not payload.get("account_id"):
        raise InvalidLicenseError("license must contain valid account ID")
    feature_set = cast("str", payload.get("feature_set") or "")
    if payload.get("all_features") and not feature_set:
        feature_set = "enterprise"
    return Claims(
        jti=cast("str", payload.get("jti") or ""),
        not_before=starts,
        issued_at=issued,
        expires=expires,
        license_expires=license_expires,
        trial=bool(payload.get("trial")),
        feature_set=feature_set,
        features=cast("dict[str, int]", payload.get("features") or {}),
        require_telemetry=bool(payload.get("require_telemetry")),
        deployment_ids=tuple(cast("list[str]", payload.get("deployment_ids") or [])),
        addons=tuple(cast("list[str]", payload.get("addons") or [])),
    )


def _object(raw: bytes) -> dict[str, object]:
    parsed: object = json.loads(raw)
    if not isinstance(parsed, dict):
        raise ValueError("not an object")  # noqa: TRY004  # one kind of error for "not a JWT"
    return cast("dict[str, object]", parsed)


def _check_types(payload: dict[str, object]) -> None:
    """Raise ValueError for a wrong type: Go then refuses the whole token as malformed."""
    texts = ("jti", "iss", "sub", "account_type", "account_id", "feature_set")
    flags = ("trial", "all_features", "require_telemetry", "publish_usage_data")
    good = (
        all(isinstance(payload.get(name) or "", str) for name in texts)
        and all(isinstance(payload.get(name) or False, bool) for name in flags)
        and all(_is_list_of_text(payload.get(name)) for name in ("deployment_ids", "addons"))
        and _is_count(payload.get("version") or 0)
        and _is_feature_map(payload.get("features"))
    )
    if not good:
        raise ValueError("a claim has the wrong type")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_list_of_text(value: object) -> bool:
    return value is None or (
        isinstance(value, list) and all(isinstance(v, str) for v in cast("list[object]", value))
    )


def _is_feature_map(value: object) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(
            isinstance(v, int) and not isinstance(v, bool)
            for v in cast("dict[str, object]", value).values()
        )
    )


def _date(payload: dict[str, object], name: str) -> datetime | None:
    value = payload.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidLicenseError(MULTIPLE_ISSUES)
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise InvalidLicenseError(MULTIPLE_ISSUES) from error


def _present(moment: datetime | None, name: str) -> datetime:
    if moment is None:
        raise _missing(name)
    return moment


def _missing(name: str) -> InvalidLicenseError:
    return InvalidLicenseError(f"license has invalid or missing {name} claim")
