"""`coder-stack watch` as a process of its own, and what it says, with the time of each line."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import psutil

from sandbox.errors import SandboxError

_END_SECONDS = 180.0


class Line(NamedTuple):
    """One line of the log."""

    at: float
    text: str


@dataclass
class WatchProcess:
    """A watcher that runs."""

    process: subprocess.Popen[str]
    lines: list[Line] = field(default_factory=list[Line])
    _read: int = 0
    _is_open: bool = True
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def said(self, *texts: str, seconds: float) -> Line:
        """Wait for the next line that has all texts, after the last one that was waited for."""
        line = self.says(*texts, seconds=seconds)
        if line is None:
            raise SandboxError(f"the watcher did not say `{' … '.join(texts)}`:\n{self.text}")
        return line

    def says(self, *texts: str, seconds: float) -> Line | None:
        """Wait as `said` does; return None if the line does not come."""
        end = time.monotonic() + seconds
        with self._changed:
            while True:
                for position in range(self._read, len(self.lines)):
                    if all(text in self.lines[position].text for text in texts):
                        self._read = position + 1
                        return self.lines[position]
                left = end - time.monotonic()
                if left <= 0 or (self.process.poll() is not None and not self._is_open):
                    return None
                self._changed.wait(min(left, 1.0))

    @property
    def text(self) -> str:
        """Everything that it said."""
        return "\n".join(each.text for each in self.lines)

    def count(self, text: str) -> int:
        """Return how many lines have this text."""
        return sum(text in each.text for each in self.lines)

    def usage(self) -> tuple[float, float]:
        """Return the seconds of processor time and the bytes of memory that it has used."""
        itself = psutil.Process(self.process.pid)
        times = itself.cpu_times()
        spent = times.user + times.system + times.children_user + times.children_system
        return spent, itself.memory_info().rss

    def terminate(self) -> int:
        """Send SIGTERM, and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_END_SECONDS)

    def read_on(self) -> None:
        """Read until the log ends."""
        assert self.process.stderr is not None, "it was started with a pipe"  # noqa: S101
        for line in self.process.stderr:
            with self._changed:
                self.lines.append(Line(time.monotonic(), line.rstrip()))
                self._changed.notify_all()
        with self._changed:
            self._is_open = False
            self._changed.notify_all()


@contextmanager
def watching(
    options: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    python: Sequence[str] = (sys.executable,),
) -> Generator[WatchProcess]:
    """Run a watcher in a project's folder until the block ends."""
    process = subprocess.Popen(
        [*python, "-m", "coder_stack.cli", "watch", *options],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    watcher = WatchProcess(process)
    reader = threading.Thread(target=watcher.read_on, daemon=True)
    reader.start()
    try:
        yield watcher
    finally:
        if process.poll() is None:
            watcher.terminate()
        reader.join(10)
        if process.stderr is not None:
            process.stderr.close()
