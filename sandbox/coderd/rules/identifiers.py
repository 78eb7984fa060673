"""Random ids and secrets in the shapes coderd gives them, and the hashes kept instead."""

import hashlib
import secrets
import string
import uuid

ALPHANUMERIC = string.digits + string.ascii_uppercase + string.ascii_lowercase
NIL_UUID = str(uuid.UUID(int=0))


def random_text(length: int) -> str:
    """That many characters of [0-9A-Za-z]."""
    return "".join(secrets.choice(ALPHANUMERIC) for _ in range(length))


def new_uuid() -> str:
    """A random UUID in its usual text form."""
    return str(uuid.uuid4())


def as_uuid(text: str) -> str | None:
    """The canonical form if the text is a UUID, else None."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None


def hashed(secret: str) -> str:
    """What is stored of a token or key: coderd keeps the SHA-256, never the secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def hashed_password(password: str, salt: str) -> str:
    """What is stored of a password. Few rounds: these accounts guard nothing but a simulation."""
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), 1000).hex()
