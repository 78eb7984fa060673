"""Does a text hold a secret? By the name it goes under, or by what it looks like itself.

Pure, and on the careful side: a name counts only if it *ends* in a word for a secret
(`CODER_MAX_TOKEN_LIFETIME` does not), and values that cannot be one (`true`, a path, a reference to
another variable) are let through. No text that was looked at is ever returned.
"""

import re

__all__ = ["HIDDEN_IN_METADATA", "WORDS", "is_plain_secret", "looks_secret", "names_secret"]

WORDS = frozenset(
    {
        *("token", "tokens", "password", "passwords", "passwd", "passphrase", "psk", "pat"),
        *("secret", "secrets", "key", "keys", "apikey", "license", "jwt", "credential"),
        *("credentials",),
    }
)
HIDDEN_IN_METADATA = WORDS - {"secret", "secrets", "key", "keys"}
"""Annotations that end in `secret` or `key` mostly hold the name of one."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SHAPES = (
    # A JSON web token: a license, an OIDC token.
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"),
    # A URL with a password; `$(NAME)` in its place is a reference.
    re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@]{0,256}:(?!\$[({])[^\s/@]{1,256}@"),
    # The form of every session token that coderd gives out.
    re.compile(r"(?<![\w-])[0-9A-Za-z]{10}-[0-9A-Za-z]{22}(?![\w-])"),
)
_HARMLESS = re.compile(r"\s*(?:true|false|[0-9.]*|\$[({][^)}]*[)}]|/[^\s]*)\s*", re.IGNORECASE)


def names_secret(name: str, words: frozenset[str] = WORDS) -> bool:
    """Whether something of that name is a secret by custom: its last word says so."""
    found = [word.lower() for word in _WORD.findall(name)]
    if not found or "public" in found:
        return False
    # `PGPASSWORD` is one word; a short one such as `key` must stand alone (`monkey`).
    return found[-1] in words or found[-1].endswith(tuple(w for w in words if len(w) > 4))


def looks_secret(value: str) -> bool:
    """Whether it has the form of a secret, wherever it stands."""
    return any(shape.search(value) for shape in _SHAPES)


def is_plain_secret(name: str, value: str, words: frozenset[str] = WORDS) -> bool:
    """Whether a secret stands here in plain text."""
    if looks_secret(value):
        return True
    return names_secret(name, words) and _HARMLESS.fullmatch(value) is None
