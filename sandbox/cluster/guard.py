"""Delete the cluster of a test run that was killed: wait for its process to end, then clean up."""

import sys
import time
from pathlib import Path

import psutil

from sandbox.cluster.lifecycle import down
from sandbox.paths import SandboxPaths


def main(pid: int, folder: Path) -> None:
    """Wait for the process, then clean up; end early if the folder has been deleted."""
    try:
        watched = psutil.Process(pid)
        while folder.exists() and watched.is_running():
            time.sleep(1)
    except psutil.NoSuchProcess:
        pass
    if folder.exists():
        down(SandboxPaths(folder))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
