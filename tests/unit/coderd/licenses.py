"""Licenses made for tests, signed with a key of their own: no coderd accepts them."""

from datetime import datetime, timedelta
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.unit.coderd.fakes import ID, NOW

_KEY = Ed25519PrivateKey.generate()


def claims(
    *, starts: datetime | None = None, days: float = 365, grace: float = 30, **others: Any
) -> dict[str, Any]:
    start = starts or NOW - timedelta(days=1)
    expires = NOW + timedelta(days=days)
    usual: dict[str, Any] = {
        "version": 3,
        "iat": int((NOW - timedelta(days=1)).timestamp()),
        "nbf": int(start.timestamp()),
        "license_expires": int(expires.timestamp()),
        "exp": int((expires + timedelta(days=grace)).timestamp()),
        "account_type": "salesforce",
        "account_id": "A-1",
        "sub": "buyer@example.test",
        "jti": ID,
        "feature_set": "enterprise",
        "features": {"user_limit": 100},
    }
    return {name: value for name, value in (usual | others).items() if value is not None}


def signed(payload: dict[str, Any], **header: Any) -> str:
    return jwt.encode(payload, _KEY, algorithm="EdDSA", headers={"kid": "2022-08-12"} | header)


def license_text(**changes: Any) -> str:
    return signed(claims(**changes))
