"""Random ids and secrets in coderd's formats, and their hashes."""

import hashlib
import secrets
import string
import uuid

ALPHANUMERIC = string.digits + string.ascii_uppercase + string.ascii_lowercase
NIL_UUID = str(uuid.UUID(int=0))


def random_text(length: int) -> str:
    """Return random characters of [0-9A-Za-z]."""
    return "".join(secrets.choice(ALPHANUMERIC) for _ in range(length))


def new_uuid() -> str:
    """Return a random UUID."""
    return str(uuid.uuid4())


def as_uuid(text: str) -> str | None:
    """Return the canonical form of a UUID; None if the text is not one."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None


def hashed(secret: str) -> str:
    """Return the hash of a token or key, which coderd stores instead of the secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def hashed_password(password: str, salt: str) -> str:
    """Return the hash of a password, with few rounds: it protects only a simulation."""
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), 1000).hex()
