"""Warn about a coderd whose version was not tried with this program (V1).

Never an error: a newer coderd usually works. The policy `coder-version` can make it one.
"""

import threading

from coder_stack.coderd.versions import outside_range
from coder_stack.console import warn

_LOCK = threading.Lock()
_TOLD: set[tuple[str, str]] = set()
"""Targets and versions; a provider process lives for one operation."""


def warn_if_untried(label: str, target: str, version: str) -> None:
    """Warn once per operation, however often the version is read."""
    sentence = outside_range(version)
    with _LOCK:
        if not sentence or (target, version) in _TOLD:
            return
        _TOLD.add((target, version))
    warn(f"{label}: {sentence} Nothing is refused; see docs/versions.md.")
