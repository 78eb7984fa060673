"""Children that do not outlive an interrupted run: each has a process group, ended with us.

A SIGKILL of this process leaves a child behind; it then writes only into staging and Go caches,
which the next run cleans, so it can finish or fail without harm.
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
class Answer:
    """How a short command ended and what it printed."""

    code: int
    stdout: str
    stderr: str


def capture(
    command: Sequence[str | Path],
    *,
    seconds: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Answer:
    """Run a short command to its end; TimeoutError if it takes too long."""
    with _child(command, env=env, cwd=cwd, out=subprocess.PIPE, err=subprocess.PIPE) as child:
        try:
            out, err = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as late:
            raise TimeoutError(f"no answer within {seconds:g} s") from late
    return Answer(child.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def run_logged(
    command: Sequence[str | Path], *, log: Path, env: Mapping[str, str], cwd: Path
) -> int:
    """Run a long command with all output appended to a file; its exit code."""
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
    child = subprocess.Popen(
        [str(word) for word in command],
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        _end(child)
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                stream.close()


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        try:
            child.wait(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        break
    # What the child had started itself may ignore the polite signal.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


@contextlib.contextmanager
def interruptible() -> Generator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit, so that children are ended and staging is removed.

    Python turns SIGINT into KeyboardInterrupt by itself. Only the main thread can do this.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
