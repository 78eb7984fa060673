"""What coderd accepts as a name, an e-mail address or a password."""

import math
import re

_NAME = re.compile(r"[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*")
_DISPLAY_NAME = re.compile(r"[^\s](.*[^\s])?")
_EMAIL = re.compile(
    r"[^@\s\"(),:;<>\[\\\]]+@(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?\.)+[a-zA-Z]{2,}"
)

_REPLACEMENTS = "!@$&*"
_SEPARATORS = "_-., "
_OTHER_SPECIAL = "\"#%'()+/:;<=>?[\\]^{|}~"
_LOWER = "abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_DIGITS = "0123456789"
_ALPHABETS = (_REPLACEMENTS, _SEPARATORS, _OTHER_SPECIAL, _LOWER, _UPPER, _DIGITS)
_SEQUENCES = (_DIGITS, "qwertyuiop", "asdfghjkl", "zxcvbnm", _LOWER)
MINIMUM_ENTROPY_BITS = 52
LONGEST_PASSWORD = 64


def is_name(text: str) -> bool:
    """Return whether it is a valid user or organization name."""
    return (
        1 <= len(text.encode()) <= 32
        and text not in {"new", "create"}
        and _NAME.fullmatch(text) is not None
    )


def is_display_name(text: str) -> bool:
    """Return whether it is a valid display name; it may be empty."""
    return not text or (len(text.encode()) <= 64 and _DISPLAY_NAME.fullmatch(text) is not None)


def is_real_name(text: str) -> bool:
    """Return whether it is a valid name of a person."""
    return len(text.encode()) <= 128 and text.strip() == text


def is_email(text: str) -> bool:
    """Return whether it is an e-mail address with a dotted domain."""
    return _EMAIL.fullmatch(text) is not None


def password_fault(password: str) -> str:
    """Return coderd's message for a weak password; empty if it is good."""
    if _entropy(password) < MINIMUM_ENTROPY_BITS:
        return _advice(password)
    if len(password.encode()) > LONGEST_PASSWORD:
        return f"password must be no more than {LONGEST_PASSWORD} characters"
    return ""


def _entropy(password: str) -> float:
    """Return the password's entropy in bits."""
    used = set(password)
    base = sum(len(alphabet) for alphabet in _ALPHABETS if used & set(alphabet))
    base += len(used - set("".join(_ALPHABETS)))
    counted = _without_repetition(password)
    for sequence in _SEQUENCES:
        counted = _without_run(counted, sequence)
    for sequence in _SEQUENCES:
        counted = _without_run(counted, sequence[::-1])
    return math.log2(base) * len(counted.encode()) if base else 0.0


def _without_repetition(text: str) -> str:
    """Keep at most two equal characters in a row."""
    kept: list[str] = []
    for char in text:
        if kept[-2:] != [char, char]:
            kept.append(char)
    return "".join(kept)


def _without_run(text: str, sequence: str) -> str:
    """Keep the first two characters of a run such as 12345.

    Like coderd's library, it skips one character after each pass through the sequence.
    """
    kept = list(text)
    index = run = 0
    while index < len(kept):
        for expected in sequence:
            if index >= len(kept):
                break
            run = run + 1 if kept[index] == expected else 0
            if run > 2:
                del kept[index]
            elif run:
                index += 1
        index += 1
    return "".join(kept)


def _advice(password: str) -> str:
    used = set(password)
    hints: list[str] = []
    if not all(used & set(alphabet) for alphabet in (_REPLACEMENTS, _SEPARATORS, _OTHER_SPECIAL)):
        hints.append("including more special characters")
    for alphabet, hint in (
        (_LOWER, "using lowercase letters"),
        (_UPPER, "using uppercase letters"),
        (_DIGITS, "using numbers"),
    ):
        if not used & set(alphabet):
            hints.append(hint)
    tail = "using a longer password"
    return (
        f"insecure password, try {', '.join(hints)} or {tail}"
        if hints
        else f"insecure password, try {tail}"
    )
