"""Outlives a test run to clean up after it: waits for a process to end, then deletes its cluster.

Tests stop their cluster themselves; this is for the run that was killed.
"""

import sys
import time
from pathlib import Path

import psutil

from sandbox.cluster.lifecycle import down
from sandbox.home import Home


def main(pid: int, folder: Path) -> None:
    """Wait, then clean up; ends at once if the folder is gone (somebody else cleaned up)."""
    try:
        watched = psutil.Process(pid)
        while folder.exists() and watched.is_running():
            time.sleep(1)
    except psutil.NoSuchProcess:
        pass
    if folder.exists():
        down(Home(folder))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
