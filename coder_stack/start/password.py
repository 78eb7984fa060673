"""Passwords for coderd's first user: a generated one, and the limit that coderd sets."""

import secrets
import string

from pydantic import SecretStr

LONGEST = 64
"""Bytes; coderd refuses a longer one."""
_LENGTH = 32


def generate() -> SecretStr:
    """Return a random password: 190 bits, where coderd asks for 52. No character needs quotes."""
    letters = string.ascii_letters + string.digits
    return SecretStr("".join(secrets.choice(letters) for _ in range(_LENGTH)))


def fault(password: SecretStr) -> str:
    """Say what coderd would refuse; empty if nothing is known. It judges the strength itself."""
    size = len(password.get_secret_value().encode())
    return f"has {size} bytes; coderd takes at most {LONGEST}" if size > LONGEST else ""
