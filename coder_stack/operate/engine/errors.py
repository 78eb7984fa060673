"""Errors of a Pulumi command, each in one sentence and without a traceback. Pure.

Pulumi reports a failure in the engine's diagnostics and in the command's output. A reason of
coderd/reasons.py stays at the front, so that users can look it up in docs/reasons.md.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from coder_stack.counting import counted
from coder_stack.explanations import EXPLANATIONS
from coder_stack.operate.report.model import NextStep
from coder_stack.operate.report.sentences import sentence


@dataclass(frozen=True)
class LockHolder:
    """Who took a lock, as Pulumi has noted it."""

    user: str
    """As `ann@laptop`."""
    pid: str
    since: str

    def __str__(self) -> str:
        return f"{self.user} (pid {self.pid}) since {self.since}"


class OperationError(Exception):
    """The operation failed; the message is one sentence for users.

    `remedy` and `command` are the next step; `{stack}` in the command is the stack's name. Without
    them, the reason at the front of the message tells what to do.
    """

    def __init__(self, message: str, remedy: str = "", command: str = "") -> None:
        super().__init__(message)
        self.remedy, self.command = remedy, command

    def told(self, stack: str = "STACK") -> str:
        """Return the message and, if it has one of its own, the next step on a second line."""
        if not self.remedy:
            return str(self)
        step = self.next_step(stack)
        return f"{self}\n  next: {step.text} $ {step.command}"

    def next_step(self, stack: str) -> NextStep:
        """Return what to do about it."""
        remedy, command = self.remedy, self.command
        if not remedy and (known := EXPLANATIONS.get(str(self).partition(":")[0])):
            remedy, command = known.remedy, known.command
        return NextStep(
            text=sentence(remedy or "correct it, then check again"),
            command=(command or "coder-stack drift --stack {stack}").format(stack=stack),
        )


class LockedError(OperationError):
    """Another update holds the stack's lock."""

    def __init__(
        self,
        message: str,
        holder: LockHolder | None = None,
        remedy: str = "Wait for it, or end a dead one.",
    ) -> None:
        super().__init__(message, remedy, "pulumi cancel --stack {stack}")
        self.holder = holder


class LeftLockError(LockedError):
    """A run that was killed has left its lock behind."""

    def __init__(self, holder: LockHolder) -> None:
        super().__init__(
            f"The stack is locked by {holder}, and no such process runs here any more.",
            holder,
            "Release the lock that it has left behind.",
        )


class UnknownStackError(OperationError):
    """The backend has no stack of that name; the message lists those that it has."""

    def __init__(self, stack: str, existing: Sequence[str] = ()) -> None:
        self.stack = stack
        likely = get_close_matches(stack, existing, n=1)
        names = ", ".join(f"`{name}`" for name in dict.fromkeys([*likely, *existing]))
        meant = f" Did you mean `{likely[0]}`?" if likely else ""
        listed = f" Stacks of this project: {names}." if names else ""
        super().__init__(
            f"There is no stack `{stack}` in this backend.{meant}{listed}",
            "Choose one of the backend's stacks.",
            "pulumi stack ls",
        )


_LOCKED = re.compile(r"currently locked by|Another update is currently in progress")
_LOCK_HOLDER = re.compile(r"created by (\S+) \(pid (\d+)\) at (\S+)")
_PASSPHRASE = (
    "Set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the stack's passphrase.",
    "export PULUMI_CONFIG_PASSPHRASE_FILE=FILE",
)
# Text in the command's output → message, remedy and command. The first match wins.
_KNOWN_FAILURES = {
    "incorrect passphrase": ("The passphrase does not match the stack.", *_PASSPHRASE),
    "passphrase must be set": ("The stack's secrets need a passphrase.", *_PASSPHRASE),
    "no Pulumi.yaml project file": (
        "There is no Pulumi.yaml here.",
        "Give the project's folder with --cwd.",
        "coder-stack drift --cwd FOLDER",
    ),
    "unable to open bucket": (
        "The backend that keeps the state cannot be opened.",
        "Look whether its folder or bucket is there, and may be read.",
        "pulumi whoami --verbose",
    ),
    "PULUMI_ACCESS_TOKEN must be set": (
        "Pulumi is not logged in to a backend.",
        "Log in to the backend that keeps the stack's state.",
        "pulumi login",
    ),
}
_NO_STACK = re.compile(r"no stack named '([^']+)' found")
# The engine adds these after the diagnostic with the reason.
_WITHOUT_REASON = re.compile(
    r"^((preview|update|refresh) failed|an unhandled error occurred: program exited .*|)$",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"^(?:(?:preview|update|refresh) failed: )?(?:Failed: )?", re.IGNORECASE)
_MAX_LENGTH = 500
_MAX_REASONS = 10


def operation_error(output: str, diagnostics: Iterable[str] = ()) -> OperationError:
    """Return the error that explains a failed command."""
    if _LOCKED.search(output):
        holder = _LOCK_HOLDER.search(output)
        return locked(LockHolder(*holder.groups()) if holder else None)
    if found := _NO_STACK.search(output):
        return UnknownStackError(found[1])
    for known, told in _KNOWN_FAILURES.items():
        if known in output:
            return OperationError(*told)
    reasons = [text for each in diagnostics if not _WITHOUT_REASON.match(text := each.strip())]
    sentences = list(dict.fromkeys(map(_one_sentence, reasons or [_error_line(output)])))
    more = len(sentences) - _MAX_REASONS
    rest = [f"And {counted(more, 'more error')}; see `pulumi preview`."] if more > 0 else []
    message = " ".join([*sentences[:_MAX_REASONS], *rest])
    if "mistake" in message.partition(":")[0]:
        check = "coder-stack config check Pulumi.{stack}.yaml"
        return OperationError(message, "Correct the config, then check it.", check)
    return OperationError(message)


def locked(holder: LockHolder | None = None) -> LockedError:
    """Return the error that names the holder of the lock, if it is known."""
    held = f", held by {holder}" if holder else ""
    return LockedError(f"Another update of the stack is running{held}.", holder)


def _one_sentence(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(line.startswith("Traceback") for line in lines):
        message = f"The program ended with an exception: {lines[-1]}"
    elif "mistake" in lines[0]:
        # A list of mistakes in the config, one per line: users want all of them (B1).
        message = f"{lines[0]} {'; '.join(line.removeprefix('- ') for line in lines[1:])}"
        return f"{message.removesuffix('.')}."
    else:
        message = _PREFIX.sub("", lines[0])
    message = message if len(message) <= _MAX_LENGTH else f"{message[:_MAX_LENGTH]}…"
    return message if message.endswith((".", "…")) else f"{message}."


def _error_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines()]
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return next(filter(None, errors), "Pulumi failed and did not say why")
