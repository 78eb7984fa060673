"""Run child processes in process groups that end when this process is interrupted.

A SIGKILL of this process leaves a child running. It writes only into staging and Go caches, which
the next run cleans.
"""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

_GRACE_SECONDS = 3.0


@dataclass(frozen=True)
class CommandResult:
    """The exit code and output of a command."""

    code: int
    stdout: str
    stderr: str


def capture(
    command: Sequence[str | Path],
    *,
    seconds: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> CommandResult:
    """Run a command and return its result, or raise TimeoutError."""
    with _child(command, env=env, cwd=cwd, out=subprocess.PIPE, err=subprocess.PIPE) as child:
        try:
            out, err = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as late:
            raise TimeoutError(f"no answer within {seconds:g} s") from late
    return CommandResult(
        child.returncode, out.decode(errors="replace"), err.decode(errors="replace")
    )


def run_logged(
    command: Sequence[str | Path], *, log: Path, env: Mapping[str, str], cwd: Path
) -> int:
    """Run a command, append its output to a file, and return its exit code."""
    with (
        log.open("ab") as sink,
        _child(command, env=env, cwd=cwd, out=sink.fileno(), err=sink.fileno()) as child,
    ):
        return child.wait()


@contextlib.contextmanager
def _child(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None,
    cwd: Path | None,
    out: int,
    err: int,
) -> Generator[subprocess.Popen[bytes]]:
    with contextlib.ExitStack() as at_the_end:
        with _signals.deferred():
            child = subprocess.Popen(
                [str(word) for word in command],
                env=env,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            at_the_end.callback(_end, child)
        yield child


def _end(child: subprocess.Popen[bytes]) -> None:
    with _signals.deferred():
        if child.poll() is None:
            _signal_group(child.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=_GRACE_SECONDS)
            # Processes of the child may ignore SIGTERM.
            _signal_group(child.pid, signal.SIGKILL)
            child.wait()
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                stream.close()


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


class _Signals:
    """Raises exceptions for signals, but not while Popen starts a child, which would be lost."""

    def __init__(self) -> None:
        self._depth = 0
        self._pending: BaseException | None = None

    def handle(self, number: int, _frame: FrameType | None) -> None:
        error = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
        if self._depth == 0:
            raise error
        self._pending = self._pending or error

    @contextlib.contextmanager
    def deferred(self) -> Generator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            self._deliver()

    def _deliver(self) -> None:
        if self._depth == 0 and self._pending is not None:
            error, self._pending = self._pending, None
            raise error


_signals = _Signals()


@contextlib.contextmanager
def interruptible() -> Generator[None]:
    """Turn SIGINT, SIGTERM and SIGHUP into exceptions that end children and remove staging.

    It has no effect outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, _signals.handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
