"""One long-lived process of the cluster: started detached, found by its pid file, ended by its id.

The pid file is written by the process itself, before it becomes the program, so there is no moment
at which a killed `sandbox up` leaves a running part that nobody knows of. A pid is only believed
if its command line names our folder: pids are reused.
"""

import errno
import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from sandbox.errors import SandboxError

_NOTE_DEADLINE = 10.0
# Writes its own pid ($$ survives exec), then becomes the program.
_BECOME = 'echo $$ > "$1.new" && mv "$1.new" "$1" && shift && exec "$@"'


@dataclass(frozen=True)
class Part:
    """A program of the cluster and where it leaves its traces."""

    name: str
    folder: Path

    @property
    def pid_file(self) -> Path:
        """Where the process notes its id."""
        return self.folder / "pids" / self.name

    @property
    def log(self) -> Path:
        """Everything the process prints."""
        return self.folder / "logs" / f"{self.name}.log"

    def start(self, command: Sequence[str]) -> None:
        """Start it, detached from this process and its terminal."""
        self.pid_file.parent.mkdir(parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.pid_file.unlink(missing_ok=True)
        with self.log.open("wb") as log:
            become = ["/bin/sh", "-c", _BECOME, "sh", str(self.pid_file), *command]
            start_detached(become, self.folder, log)
        deadline = time.monotonic() + _NOTE_DEADLINE
        while not self.pid_file.exists():
            if time.monotonic() > deadline:
                raise SandboxError(f"{self.name} could not be started: {self.last_words()}")
            time.sleep(0.005)

    def process(self) -> psutil.Process | None:
        """The running process, if there is one and it is ours."""
        try:
            process = psutil.Process(int(self.pid_file.read_text()))
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            return process if self._is_ours(process) else None
        except (FileNotFoundError, ValueError, psutil.Error):
            return None

    def end(self, grace: float) -> bool:
        """Ask it to end, then insist; returns whether it was running."""
        process = self.process()
        if process is None:
            return False
        for ask in (process.terminate, process.kill):
            with suppress(psutil.NoSuchProcess):
                ask()
            if self._is_gone_within(grace):
                break
        return True

    def last_words(self) -> str:
        """What it said last, and where the rest is."""
        lines = self._said().strip().splitlines()
        said = lines[-1].strip() if lines else "it printed nothing"
        return f"{said[:300]} (log: {self.log})"

    def met_a_taken_port(self) -> bool:
        """Whether it says that somebody else listens where it was to listen."""
        return os.strerror(errno.EADDRINUSE).lower() in self._said().lower()

    def _is_gone_within(self, seconds: float) -> bool:
        # Not psutil's own wait: for that one a process is there until somebody reaps it.
        deadline = time.monotonic() + seconds
        while self.process():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def _said(self) -> str:
        try:
            return self.log.read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def _is_ours(self, process: psutil.Process) -> bool:
        # While the kernel loads the program the command line is empty for a moment.
        for _ in range(100):
            if command := process.cmdline():
                return any(str(self.folder) in argument for argument in command)
            time.sleep(0.01)
        return False


def start_detached(command: Sequence[str], folder: Path, output: IO[bytes] | None = None) -> None:
    """Start a process that belongs to nobody: it outlives us and never becomes our zombie."""
    subprocess.run(
        ["/bin/sh", "-c", '"$@" &', "sh", *command],
        check=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output or subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def stop(parts: Sequence[Part], grace: float = 10.0) -> list[str]:
    """End them in this order, each before the next is asked; returns who was running.

    One after another, because an API server waits in vain for an etcd that went before it.
    """
    running = [part for part in parts if part.end(grace)]
    for part in parts:
        part.pid_file.unlink(missing_ok=True)
    return [part.name for part in running]
