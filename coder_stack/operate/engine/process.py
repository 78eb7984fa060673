"""Run `pulumi` so that an interrupted run leaves no lock behind (F7).

After one SIGINT Pulumi finishes its current step, stores the state and releases the lock; a second
one makes it abandon the step. So each `pulumi` is in a session of its own, where Ctrl-C of the
terminal does not reach it, and `run` forwards exactly one SIGINT. Works for several at once, in any
thread. Leaves alone what a command means and prints (pulumi.py).
"""

import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_POLL_SECONDS = 0.1
# Wrappers such as `timeout` send a signal to the process and then to its group.
_SAME_PRESS_SECONDS = 0.5
# How long Pulumi may take to abandon a step; it waits 10 s for its plugins.
_ABANDON_SECONDS = 20.0
_WAITING = (
    "interrupting Pulumi, waiting for it to finish the current step; press Ctrl-C again to give up"
)
_ABANDONING = "giving up on the current step; press Ctrl-C again to kill Pulumi at once"


class Interrupted(Exception):  # noqa: N818 - an order from outside, not a mistake
    """This process was told to end, and every `pulumi` that it ran has ended."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.exit_code = 128 + number


@dataclass(frozen=True)
class Completed:
    """The exit code of a command, and its output if it was captured."""

    code: int
    stdout: str = ""
    stderr: str = ""


@dataclass
class _Signals:
    """The signals to this process since `interruptible` began; there is one such state."""

    say: Callable[[str], None] | None = None
    first: int = 0
    presses: int = 0
    """1: finish the step, 2: abandon it, 3: kill."""
    last: float = 0.0
    running: int = 0
    killed: list[str] = field(default_factory=list[str])
    """Commands that release the locks of what was killed."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Count a press; SIGTERM and SIGHUP ask once, and only Ctrl-C gives up."""
        now = time.monotonic()
        repeated = self.first and (number != signal.SIGINT or now - self.last < _SAME_PRESS_SECONDS)
        self.first, self.last = self.first or number, now
        if repeated:
            return
        self.presses += 1
        sentence = {1: _WAITING, 2: _ABANDONING}.get(self.presses)
        if sentence and self.say and self.running:
            with suppress(OSError):  # the terminal may be gone
                self.say(sentence)

    def raise_if_interrupted(self) -> None:
        """Raise Interrupted if there was a signal."""
        if not self.first:
            return
        if self.killed:
            commands = " and ".join(f"`{command}`" for command in dict.fromkeys(self.killed))
            message = (
                "interrupted, and Pulumi was killed: its lock may stay. Release it with "
                f"{commands}, then run the same command again."
            )
        elif self.presses > 1:
            message = (
                "interrupted in the middle of a step: Pulumi has released its lock, but the "
                "step's outcome is unknown. Run the same command again."
            )
        else:
            message = "interrupted; no lock is left. Run the same command again to continue."
        raise Interrupted(message, self.first)


_signals = _Signals()


@contextmanager
def interruptible(say: Callable[[str], None]) -> Generator[None]:
    """End every `run` of the block in order if a signal comes, then raise Interrupted.

    A signal that was ignored before, as after `nohup`, stays ignored.
    """
    global _signals  # noqa: PLW0603 - signals belong to the process
    _signals = now = _Signals(say)
    caught = [n for n in _SIGNALS if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, now.handle) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _signals = _Signals()
    now.raise_if_interrupted()


def raise_if_interrupted() -> None:
    """Raise Interrupted if a signal came since `interruptible` began, for waits between runs."""
    _signals.raise_if_interrupted()


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    cancel: str = "",
    capture: bool = True,
    poll: Callable[[], None] | None = None,
) -> Completed:
    """Run a command to its end; raise Interrupted if a signal came before or meanwhile.

    `cancel` is the command that releases its lock, if it takes one; `poll` is called while it runs.
    """
    signals = _signals
    signals.raise_if_interrupted()
    with ExitStack() as open_:
        # Files instead of pipes: if this process is killed, Pulumi still finishes its work.
        streams = [open_.enter_context(tempfile.TemporaryFile()) if capture else None for _ in "oe"]
        process = subprocess.Popen(
            [*command],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=streams[0],
            stderr=streams[1],
            start_new_session=True,
        )
        with signals.lock:
            signals.running += 1
        try:
            code = _wait(process, signals, poll)
        except BaseException:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait()
            raise
        finally:
            with signals.lock:
                signals.running -= 1
        # Pulumi handles SIGINT from its start on: what SIGINT ended was no Pulumi yet.
        if code < 0 and code != -signal.SIGINT and cancel:
            signals.killed.append(cancel)
        signals.raise_if_interrupted()
        output = ["" if each is None else _content(each) for each in streams]
    return Completed(code, *output)


def _wait(
    process: subprocess.Popen[bytes], signals: _Signals, poll: Callable[[], None] | None
) -> int:
    forwarded, killed_at = 0, 0.0
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_POLL_SECONDS)
        if poll:
            poll()
        if forwarded < min(signals.presses, 2):
            process.send_signal(signal.SIGINT)
            forwarded += 1
            killed_at = time.monotonic() + _ABANDON_SECONDS
        if signals.presses > 2 or (forwarded == 2 and time.monotonic() > killed_at):
            process.kill()


def _content(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace")
