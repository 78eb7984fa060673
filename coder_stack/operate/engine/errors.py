"""What went wrong with a Pulumi command, in one sentence and without a traceback. Pure.

Pulumi tells of a failure in two places: diagnostics of the engine, and what the command printed. A
reason word of coderd/reasons.py stays in front, so that docs/reasons.md can be looked up.
"""

import re
from collections.abc import Iterable

__all__ = ["LockedError", "OperationError", "failure", "locked_by"]


class OperationError(Exception):
    """One sentence, for people."""


class LockedError(OperationError):
    """Somebody else is at work on the stack."""


_LOCKED = re.compile(r"currently locked by|Another update is currently in progress")
_HOLDER = re.compile(r"created by (\S+) \(pid (\d+)\) at (\S+)")
_SET_IT = "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE"
# What the command printed → what is said. The first that fits wins.
_KNOWN = (
    ("incorrect passphrase", f"The passphrase does not fit the stack; {_SET_IT}."),
    ("passphrase must be set", f"The stack's secrets need a passphrase; {_SET_IT}."),
    ("no Pulumi.yaml project file", "There is no Pulumi.yaml here; give the project with --cwd."),
    (
        "PULUMI_ACCESS_TOKEN must be set",
        "Pulumi is not logged in to a backend; see `pulumi login`.",
    ),
)
_NO_STACK = re.compile(r"no stack named '([^']+)' found")
# Said by the engine after it has told the reason.
_EMPTY = re.compile(r"^(preview|update|refresh) failed$")
_LEAD = re.compile(r"^(?:(?:preview|update|refresh) failed: )?(?:Failed: )?", re.IGNORECASE)
_LONGEST = 500


def failure(printed: str, diagnostics: Iterable[str] = ()) -> OperationError:
    """The one error to raise."""
    if _LOCKED.search(printed):
        holder = _HOLDER.search(printed)
        return LockedError(locked_by(*holder.groups()) if holder else locked_by())
    if found := _NO_STACK.search(printed):
        return OperationError(f"There is no stack `{found[1]}` in this backend.")
    for sign, sentence in _KNOWN:
        if sign in printed:
            return OperationError(sentence)
    told = [text for each in diagnostics if not _EMPTY.match(text := each.strip())]
    return OperationError(_one_sentence(told[0] if told else _error_line(printed)))


def locked_by(who: str = "", pid: str = "", since: str = "") -> str:
    """Who is at work, if it is known."""
    held = f", held by {who} (pid {pid}) since {since}" if who else ""
    return f"Another update of the stack is running{held}; end a dead one with `pulumi cancel`."


def _one_sentence(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(line.startswith("Traceback") for line in lines):
        said = f"The program ended with an exception: {lines[-1]}"
    elif "mistake" in lines[0]:
        # A list of mistakes in the config, one a line (B1).
        said = f"{lines[0]} {'; '.join(line.removeprefix('- ') for line in lines[1:])}"
    else:
        said = _LEAD.sub("", lines[0])
    said = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
    return said if said.endswith((".", "…")) else f"{said}."


def _error_line(printed: str) -> str:
    lines = [line.strip() for line in printed.splitlines()]
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return next(filter(None, errors), "Pulumi failed and did not say why")
