"""The processes that a test may have left behind."""

from pathlib import Path

import psutil


def processes_in(folder: Path) -> list[str]:
    """List every process whose command line names that folder, however it was started.

    The guard of a test's cluster is left out: it ends a moment after the folder is gone.
    """
    return sorted(
        str(process.info["name"])
        for process in psutil.process_iter(["name", "cmdline"])
        if any(str(folder) in word for word in process.info["cmdline"] or [])
        and "sandbox.cluster.guard" not in process.info["cmdline"]
    )
