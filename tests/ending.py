"""Outlives a killed test run to end a server of its: waits for the run, then ends the process.

Servers are ended by the tests that started them; this is for the run that was killed. The guard of
clusters is sandbox/cluster/guard.py; this one is for a single process, and its folder.
"""

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from sandbox.cluster.process import start_detached
from sandbox.paths import CHECKOUT

_PAUSE = 0.5
_GRACE = 20


def end_with_this_run(pid: int, folder: Path | None = None) -> None:
    """Have that process ended, and its folder deleted, when this process is gone."""
    words = [str(os.getpid()), str(pid), *([str(folder)] if folder else [])]
    start_detached([sys.executable, "-m", "tests.ending", *words], CHECKOUT)


def main(run: int, pid: int, *folders: str) -> None:
    """Wait for the run, or for the server, which the run then has ended itself."""
    with suppress(psutil.NoSuchProcess):
        server = psutil.Process(pid)
        with suppress(psutil.NoSuchProcess):
            owner = psutil.Process(run)
            while _lives(owner):
                if not _lives(server):
                    return
                time.sleep(_PAUSE)
        # PostgreSQL waits for its clients at SIGTERM; at SIGINT it does not.
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            server.send_signal(each)
            with suppress(psutil.TimeoutExpired):
                server.wait(_GRACE)
                break
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _lives(process: psutil.Process) -> bool:
    """A zombie has ended: nobody has asked for its exit code yet, that is all."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
