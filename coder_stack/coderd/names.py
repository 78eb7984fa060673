"""Coderd's rules for names of keys, proxies and organizations, and for tags (P2). Pure."""

from collections.abc import Mapping

HYPHENATED = r"[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*"
"""Pattern of the names of organizations, users and tokens."""
HYPHENATED_RULE = "letters and digits with single '-' between them"
LONGEST_ORGANIZATION_NAME = 36
LONGEST_KEY_NAME = 64
RESERVED_KEY_NAMES = frozenset({"built-in", "user-auth", "psk"})
_RESERVED_PROXY_NAMES = ("me", "primary")
_RESERVED = "must not be a name that coderd reserves"


def key_name_fault(name: str) -> str | None:
    """Say why coderd, or its route that deletes a key by name, would refuse it; None if fine."""
    if not name:
        return "must not be empty"
    if len(name.encode(errors="replace")) > LONGEST_KEY_NAME:
        return f"must be at most {LONGEST_KEY_NAME} bytes"
    if not (name.isascii() and name.isprintable()) or name != name.strip():
        return "must be printable ASCII without spaces at its ends"
    if "/" in name or name in (".", ".."):
        return "must not hold '/' or be '.' or '..': coderd deletes keys by a path with their name"
    if name.lower() in RESERVED_KEY_NAMES:
        return f"{_RESERVED}: {', '.join(sorted(RESERVED_KEY_NAMES))}"
    return None


def proxy_name_fault(name: str) -> str | None:
    """Say why coderd would refuse the name of a proxy, or not find it by that; None if fine."""
    if not name or name != name.strip() or "/" in name or not name.isprintable():
        return "must be one line without '/' or spaces at its ends"
    if name.lower() in _RESERVED_PROXY_NAMES:
        return f"{_RESERVED}: {', '.join(_RESERVED_PROXY_NAMES)}"
    return None


def tags_fault(tags: Mapping[str, str]) -> str | None:
    """Say why a daemon with these tags would never get a job; None if fine."""
    if tags.get("scope") == "user":
        return "scope must not be 'user': with a key no user owns the daemon, so no job reaches it"
    return None
