"""Detect secrets by name or by format, without false alarms.

A name counts only if it *ends* in a word for a secret (`CODER_MAX_TOKEN_LIFETIME` does not). Values
that cannot be secrets pass: `true`, a path, a reference to another variable.
"""

import re

WORDS = frozenset(
    {
        *("token", "tokens", "password", "passwords", "passwd", "passphrase", "psk", "pat"),
        *("secret", "secrets", "key", "keys", "apikey", "license", "jwt", "credential"),
        *("credentials",),
    }
)
HIDDEN_IN_METADATA = WORDS - {"secret", "secrets", "key", "keys"}
"""Annotations that end in `secret` or `key` usually hold the name of one."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SHAPES = (
    # A JSON web token: a license, an OIDC token.
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"),
    # A URL with a password that is not a reference such as `$(NAME)`.
    re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@]{0,256}:(?!\$[({])[^\s/@]{1,256}@"),
    # A session token of coderd.
    re.compile(r"(?<![\w-])[0-9A-Za-z]{10}-[0-9A-Za-z]{22}(?![\w-])"),
)
_HARMLESS = re.compile(r"\s*(?:true|false|[0-9.]*|\$[({][^)}]*[)}]|/[^\s]*)\s*", re.IGNORECASE)


def names_secret(name: str, words: frozenset[str] = WORDS) -> bool:
    """Return whether the last word of a name denotes a secret."""
    found = [word.lower() for word in _WORD.findall(name)]
    if not found or "public" in found:
        return False
    # `PGPASSWORD` is one word; a short one such as `key` must stand alone (`monkey`).
    return found[-1] in words or found[-1].endswith(tuple(w for w in words if len(w) > 4))


def looks_secret(value: str) -> bool:
    """Return whether the value contains something in the format of a secret."""
    return any(shape.search(value) for shape in _SHAPES)


def is_plain_secret(name: str, value: str, words: frozenset[str] = WORDS) -> bool:
    """Return whether the value is a secret in plain text, by its format or its name."""
    if looks_secret(value):
        return True
    return names_secret(name, words) and _HARMLESS.fullmatch(value) is None
