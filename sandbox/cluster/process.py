"""Start a long-lived process of the cluster, find it by its pid file, and stop it.

The process writes its pid file itself before it executes the program: a killed `sandbox up` leaves
no process without one. Pids are reused, so the command line must contain the sandbox's folder.
"""

import errno
import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

from sandbox.errors import SandboxError

_PID_FILE_SECONDS = 10.0
# `exec` keeps the pid.
_WRITE_PID_AND_EXEC = 'echo $$ > "$1.new" && mv "$1.new" "$1" && shift && exec "$@"'


class ClusterProcess:
    """A process of the cluster, its pid file and its log."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.pid_file = folder / "pids" / name
        self.log = folder / "logs" / f"{name}.log"

    def start(self, command: Sequence[str]) -> None:
        """Start it detached from this process and its terminal."""
        self.pid_file.parent.mkdir(parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.pid_file.unlink(missing_ok=True)
        with self.log.open("wb") as log:
            wrapped = ["/bin/sh", "-c", _WRITE_PID_AND_EXEC, "sh", str(self.pid_file), *command]
            start_detached(wrapped, self.folder, log)
        deadline = time.monotonic() + _PID_FILE_SECONDS
        while not self.pid_file.exists():
            if time.monotonic() > deadline:
                raise SandboxError(f"{self.name} could not be started: {self.last_log_line()}")
            time.sleep(0.005)

    def process(self) -> psutil.Process | None:
        """Return the running process, if there is one."""
        try:
            process = psutil.Process(int(self.pid_file.read_text()))
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            return process if self._is_ours(process) else None
        except (FileNotFoundError, ValueError, psutil.Error):
            return None

    def end(self, grace: float) -> bool:
        """Terminate it, and kill it after `grace` seconds; return whether it was running."""
        process = self.process()
        if process is None:
            return False
        for ask in (process.terminate, process.kill):
            with suppress(psutil.NoSuchProcess):
                ask()
            if self._is_gone_within(grace):
                break
        return True

    def last_log_line(self) -> str:
        """Return the last line of its log, and the log's path."""
        lines = self._read_log().strip().splitlines()
        said = lines[-1].strip() if lines else "it printed nothing"
        return f"{said[:300]} (log: {self.log})"

    def found_port_in_use(self) -> bool:
        """Return whether its log says that a port was in use."""
        return os.strerror(errno.EADDRINUSE).lower() in self._read_log().lower()

    def _is_gone_within(self, seconds: float) -> bool:
        # psutil's wait() counts a zombie as running.
        deadline = time.monotonic() + seconds
        while self.process():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def _read_log(self) -> str:
        try:
            return self.log.read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def _is_ours(self, process: psutil.Process) -> bool:
        # The command line is empty for a moment while the kernel loads the program.
        for _ in range(100):
            if command := process.cmdline():
                return any(str(self.folder) in argument for argument in command)
            time.sleep(0.01)
        return False


def start_detached(command: Sequence[str], folder: Path, output: IO[bytes] | None = None) -> None:
    """Start a process that outlives this one and never becomes its zombie."""
    subprocess.run(
        ["/bin/sh", "-c", '"$@" &', "sh", *command],
        check=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output or subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def stop(parts: Sequence[ClusterProcess], grace: float = 10.0) -> list[str]:
    """Stop the processes one after another, and return the names of those that were running.

    In this order: an API server does not stop without etcd.
    """
    running = [part for part in parts if part.end(grace)]
    for part in parts:
        part.pid_file.unlink(missing_ok=True)
    return [part.name for part in running]
