"""Rules for Kubernetes names, as pure functions: what is a name, and how a long one is made to fit.

Names that coderd gives out have rules of their own; they are not here.
"""

import hashlib
import re

# A DNS label (RFC 1123), the strictest form that any of our objects needs.
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
LABEL_RULE = "1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or digit"
MAX_LABEL = 63
_HASH = 8


def is_label(name: str) -> bool:
    """Whether Kubernetes takes it as a DNS label."""
    return len(name) <= MAX_LABEL and LABEL.fullmatch(name) is not None


def fit(name: str, limit: int = MAX_LABEL) -> str:
    """The name itself if it is short enough, else cut, with a hash that keeps it unique."""
    if len(name) <= limit:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH]
    return f"{name[: limit - _HASH - 1].rstrip('-')}-{digest}"
