"""Sign test licenses with a public test key.

The private key is not a secret: only the simulated coderd trusts it. A real coderd refuses these
licenses because of an unknown key.
"""

import base64
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import jwt
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_ID = "coder-stack-public-test-key"
# 32 readable bytes, so that it is not mistaken for a secret.
PUBLIC_TEST_KEY_SEED = b"coder-stack: public test key 001"


@dataclass(frozen=True)
class LicenseTerms:
    """The content of a test license; days are relative to its issue."""

    days: float = 365
    grace_days: float = 30
    nbf_days: float = 0
    feature_set: str = "premium"
    features: dict[str, int] = field(default_factory=dict[str, int])
    jti: str = ""
    deployment_ids: tuple[str, ...] = ()
    trial: bool = False
    require_telemetry: bool = False


def private_key() -> Ed25519PrivateKey:
    """Return the private half of the public test key."""
    return Ed25519PrivateKey.from_private_bytes(PUBLIC_TEST_KEY_SEED)


def claims_of(terms: LicenseTerms, now: datetime) -> dict[str, object]:
    """Return the payload of a license."""
    issued = now - timedelta(minutes=1)
    starts = issued + timedelta(days=terms.nbf_days)
    expires = now + timedelta(days=terms.days)
    claims: dict[str, object] = {
        "iss": "coder-stack test licenses",
        "sub": "operator@example.com",
        "iat": int(issued.timestamp()),
        "nbf": int(starts.timestamp()),
        "exp": int((expires + timedelta(days=terms.grace_days)).timestamp()),
        "license_expires": int(expires.timestamp()),
        "account_type": "salesforce",
        "account_id": "coder-stack-test",
        "version": 3,
        "trial": terms.trial,
        "feature_set": terms.feature_set,
        "features": dict(terms.features),
    }
    optional: dict[str, object] = {
        "jti": terms.jti,
        "deployment_ids": list(terms.deployment_ids),
        "require_telemetry": terms.require_telemetry,
    }
    return claims | {name: value for name, value in optional.items() if value}


def sign(claims: dict[str, object], *, key_id: str | None = KEY_ID) -> str:
    """Sign claims; they need not be valid."""
    headers = {"kid": key_id} if key_id is not None else None
    return jwt.encode(claims, private_key(), algorithm="EdDSA", headers=headers)


def issue(terms: LicenseTerms, now: datetime) -> str:
    """Return a license that the simulated coderd accepts."""
    return sign(claims_of(terms, now))


def verifies(signed: bytes, signature: bytes, key_id: object) -> bool:
    """Return whether the test key made this signature."""
    if key_id != KEY_ID:
        return False
    try:
        private_key().public_key().verify(signature, signed)
    except InvalidSignature:
        return False
    return True


def segment(text: str) -> bytes:
    """Decode one part of a JWT as Go does: base64url, with line breaks ignored."""
    compact = text.replace("\r", "").replace("\n", "")
    if not all(c.isascii() and (c.isalnum() or c in "-_") for c in compact):
        raise ValueError("not base64url")
    return base64.urlsafe_b64decode(compact + "=" * (-len(compact) % 4))
