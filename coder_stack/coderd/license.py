"""Read the claims of a license offline, without verifying its signature: only coderd can.

license_problems.py decides whether the license is good enough. Its text is a secret: nothing here
keeps or prints it, only its sha256.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

from coder_stack.coderd.models import LicenseRecord
from coder_stack.features import MULTIPLE_ORGANIZATIONS

# Licenses have about a thousand characters; more than this is some other file.
_LONGEST = 64 * 1024

_PREMIUM_ONLY = frozenset({"custom_roles", MULTIPLE_ORGANIZATIONS})
# Every feature of coderd 2.30 that is on or off; a feature set does not grant the limits.
_SWITCHES = frozenset(
    {
        "access_control",
        "advanced_template_scheduling",
        "aibridge",
        "appearance",
        "audit_log",
        "boundary",
        "browser_only",
        "connection_log",
        "control_shared_ports",
        "custom_roles",
        "external_provisioner_daemons",
        "external_token_encryption",
        "high_availability",
        "multiple_external_auth",
        "multiple_organizations",
        "scim",
        "task_batch_actions",
        "template_rbac",
        "user_role_management",
        "workspace_batch_actions",
        "workspace_external_agent",
        "workspace_prebuilds",
        "workspace_proxy",
    }
)


class NotALicense(ValueError):  # noqa: N818  # it says what the text is not
    """The text is not a JWT with readable claims; the message completes "the license …"."""


@dataclass(frozen=True, kw_only=True)
class LicenseClaims:
    """The claims; one of the wrong type counts as missing, as it does for coderd.

    The license is in grace from `license_expires` and void from `expires` (the claim exp).
    `identity` is the claim jti if it is a UUID: coderd lists the license under it.
    """

    sha256: str
    version: int | None
    issued_at: datetime | None
    not_before: datetime | None
    license_expires: datetime | None
    expires: datetime | None
    account_type: str
    account_id: str
    subject: str
    identity: UUID | None
    feature_set: str
    features: Mapping[str, int]
    addons: tuple[str, ...]
    all_features: bool
    trial: bool
    require_telemetry: bool
    deployment_ids: tuple[str, ...]
    algorithm: str
    key_id: str
    payload: Mapping[str, object] = field(repr=False)

    @property
    def granted(self) -> frozenset[str]:
        """Return the features it grants by name, by feature set or by the old `all_features`."""
        named = frozenset(name for name, value in self.features.items() if value > 0)
        if self.feature_set.lower() == "premium":
            return named | _SWITCHES
        if self.feature_set.lower() == "enterprise" or self.all_features:
            return named | (_SWITCHES - _PREMIUM_ONLY)
        return named


def fingerprint(text: str) -> str:
    """Return the sha256 of the trimmed text in hex (L3)."""
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()


def read_license(text: str) -> LicenseClaims:
    """Return the claims of a license; raise NotALicense if there are none."""
    trimmed = text.strip()
    if not trimmed:
        raise NotALicense("is empty")
    if len(trimmed) > _LONGEST or not trimmed.isascii():
        raise NotALicense("is not a JWT, which is one line of at most 64 KiB of ASCII text")
    decoded = _decoded(trimmed)
    if decoded is None:
        raise NotALicense("is not a JWT: not three parts of base64 with JSON inside")
    header, payload = decoded
    return LicenseClaims(
        sha256=fingerprint(trimmed),
        version=_whole(payload.get("version")),
        issued_at=_instant(payload.get("iat")),
        not_before=_instant(payload.get("nbf")),
        license_expires=_instant(payload.get("license_expires")),
        expires=_instant(payload.get("exp")),
        account_type=_text(payload.get("account_type")),
        account_id=_text(payload.get("account_id")),
        subject=_text(payload.get("sub")),
        identity=_uuid(payload.get("jti")),
        feature_set=_text(payload.get("feature_set")),
        features=_numbers(payload.get("features")),
        addons=_texts(payload.get("addons")),
        all_features=payload.get("all_features") is True,
        trial=payload.get("trial") is True,
        require_telemetry=payload.get("require_telemetry") is True,
        deployment_ids=_texts(payload.get("deployment_ids")),
        algorithm=_text(header.get("alg")),
        key_id=_text(header.get("kid")),
        payload=payload,
    )


def find_license(ours: LicenseClaims, stored: Iterable[LicenseRecord]) -> LicenseRecord | None:
    """Find the stored license with the same payload (L6).

    The uuid is not enough: it is the jti, which a reissued license shares with the former one.
    """
    return next((each for each in stored if dict(each.claims) == dict(ours.payload)), None)


def _decoded(text: str) -> tuple[Mapping[str, object], Mapping[str, object]] | None:
    import jwt  # noqa: PLC0415  # its cryptography loads slowly, and is rarely needed

    try:
        parts = jwt.decode_complete(text, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError):
        # Not chained: the library's messages may quote the text.
        return None
    header = cast("Mapping[str, object]", parts["header"])
    return header, cast("Mapping[str, object]", parts["payload"])


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, str))


def _numbers(value: object) -> dict[str, int]:
    items = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    return {name: number for name, item in items.items() if (number := _whole(item)) is not None}


def _uuid(value: object) -> UUID | None:
    try:
        return UUID(_text(value))
    except ValueError:
        return None


def _instant(value: object) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, OSError, ValueError):
        return None
