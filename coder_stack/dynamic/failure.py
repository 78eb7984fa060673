"""How a provider says that something did not work: a reason, an object, a step, never a secret.

Pulumi shows an exception of a provider together with its traceback; the last line is the one that
people read, so it begins with the reason word of coderd/reasons.py. Warnings go to stderr, which
the engine shows among its diagnostics.
"""

import logging
import sys

__all__ = ["Failed", "warn"]


class Failed(Exception):  # noqa: N818  # shown to people as it is spelled
    """One operation on one object that ended badly; `reason` is the first word of the message."""

    def __init__(self, reason: str, noun: str, step: str, why: str) -> None:
        super().__init__(f"{reason}: {noun}, {step}: {why}")
        self.reason = reason


# Shown as `Failed: Forbidden: …`, without the module's path in front.
Failed.__module__ = "builtins"

_log = logging.getLogger("coder_stack.dynamic")


def warn(message: str) -> None:
    """One line for the person who runs Pulumi. Stdout is taken: the engine read a port from it."""
    sys.stderr.write(f"warning: {message}\n")
    sys.stderr.flush()
    _log.debug("%s", message)
