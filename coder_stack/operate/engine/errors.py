"""Errors of a Pulumi command, each in one sentence and without a traceback. Pure.

Pulumi reports a failure in the engine's diagnostics and in the command's output. A reason of
coderd/reasons.py stays at the front, so that users can look it up in docs/reasons.md.
"""

import re
from collections.abc import Iterable


class OperationError(Exception):
    """The operation failed; the message is one sentence for users."""


class LockedError(OperationError):
    """Another update holds the stack's lock."""


_LOCKED = re.compile(r"currently locked by|Another update is currently in progress")
_LOCK_HOLDER = re.compile(r"created by (\S+) \(pid (\d+)\) at (\S+)")
_SET_VARIABLE = "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE"
# Text in the command's output → the message. The first match wins.
_KNOWN_FAILURES = (
    ("incorrect passphrase", f"The passphrase does not match the stack; {_SET_VARIABLE}."),
    ("passphrase must be set", f"The stack's secrets need a passphrase; {_SET_VARIABLE}."),
    ("no Pulumi.yaml project file", "There is no Pulumi.yaml here; give the project with --cwd."),
    (
        "PULUMI_ACCESS_TOKEN must be set",
        "Pulumi is not logged in to a backend; see `pulumi login`.",
    ),
)
_NO_STACK = re.compile(r"no stack named '([^']+)' found")
# The engine adds this after the diagnostic with the reason.
_WITHOUT_REASON = re.compile(r"^(preview|update|refresh) failed$")
_PREFIX = re.compile(r"^(?:(?:preview|update|refresh) failed: )?(?:Failed: )?", re.IGNORECASE)
_MAX_LENGTH = 500


def operation_error(output: str, diagnostics: Iterable[str] = ()) -> OperationError:
    """Return the error that explains a failed command."""
    if _LOCKED.search(output):
        holder = _LOCK_HOLDER.search(output)
        return LockedError(lock_message(*holder.groups()) if holder else lock_message())
    if found := _NO_STACK.search(output):
        return OperationError(f"There is no stack `{found[1]}` in this backend.")
    for known, message in _KNOWN_FAILURES:
        if known in output:
            return OperationError(message)
    reasons = [text for each in diagnostics if not _WITHOUT_REASON.match(text := each.strip())]
    return OperationError(_one_sentence(reasons[0] if reasons else _error_line(output)))


def lock_message(user: str = "", pid: str = "", since: str = "") -> str:
    """Name the holder of the lock, if it is known."""
    held = f", held by {user} (pid {pid}) since {since}" if user else ""
    return f"Another update of the stack is running{held}; end a dead one with `pulumi cancel`."


def _one_sentence(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(line.startswith("Traceback") for line in lines):
        message = f"The program ended with an exception: {lines[-1]}"
    elif "mistake" in lines[0]:
        # A list of mistakes in the config, one per line (B1).
        message = f"{lines[0]} {'; '.join(line.removeprefix('- ') for line in lines[1:])}"
    else:
        message = _PREFIX.sub("", lines[0])
    message = message if len(message) <= _MAX_LENGTH else f"{message[:_MAX_LENGTH]}…"
    return message if message.endswith((".", "…")) else f"{message}."


def _error_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines()]
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return next(filter(None, errors), "Pulumi failed and did not say why")
