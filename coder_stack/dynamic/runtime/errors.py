"""How a provider reports a failure: a reason, an object, a step, never a secret.

Pulumi shows what `traceback` makes of a provider's exception. For a `Failed` that is to be one
sentence, beginning with the reason word of coderd/reasons.py; only a bug of ours deserves its
frames.
"""

import sys
import traceback

_FRAMES = 20


class Failed(Exception):  # noqa: N818  # shown to people as it is spelled
    """One operation on one object that ended badly; `reason` is the first word of the message.

    `again`: the next run takes it up, so that not even a best-effort delete lets go of it.
    """

    def __init__(self, reason: str, noun: str, step: str, why: str, *, again: bool = False) -> None:
        super().__init__(f"{reason}: {noun}, {step}: {why}")
        self.reason = reason
        self.again = again


# Shown as `Failed: Forbidden: …`, without the module's path in front.
Failed.__module__ = "builtins"


def one_sentence_errors() -> None:
    """Hide frames in this process, whose only way to report an error prints them as well."""
    sys.tracebacklimit = 0


def tell_bug(error: Exception) -> None:
    """Print the frames of an unexpected exception: file, line and code, no values."""
    sys.stderr.write("".join(traceback.format_tb(error.__traceback__, _FRAMES)))
    sys.stderr.flush()
