"""Rules for Kubernetes names, as pure functions: what is a name, and how a long one is made to fit.

Names that coderd gives out have rules of their own; they are not here.
"""

import hashlib
import re

# A DNS label (RFC 1123), the strictest form that any of our objects needs.
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
LABEL_RULE = "1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or digit"
MAX_LABEL = 63
CODERD_NAME = "coder"
"""Of coderd's Deployment and Service, unless the config names them otherwise."""
CODERD_NAMESPACE = "coder"
"""Likewise."""
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


def operator_secret_name(coderd_name: str, owner: str = "") -> str:
    """Name the Secret in coderd's namespace that holds the operator's token.

    `owner` tells apart those who share a coderd, or a namespace for the Secrets of several.
    """
    return fit(f"{coderd_name}-operator-{owner}" if owner else f"{coderd_name}-operator")


def stack_hash(project: str, stack: str, part: str = "") -> str:
    """Tell one stack, or one part of it, from another in names that several of them share."""
    text = f"{project}/{stack}/{part}" if part else f"{project}/{stack}"
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH]
