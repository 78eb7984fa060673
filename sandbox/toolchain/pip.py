"""Install locked Python packages into a folder with pip."""

import os
import sys
from pathlib import Path

from sandbox.toolchain.errors import SourceUnavailable
from sandbox.toolchain.processes import CommandResult, capture

_SECONDS = 600.0


def install(lock: Path, into: Path) -> CommandResult:
    """Run pip with a requirements file that has hashes for all packages."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
    command += ["--retries", "1", "--timeout", "30", "--require-hashes"]
    command += ["--target", str(into), "--requirement", str(lock)]
    try:
        return capture(command, seconds=_SECONDS, env=dict(os.environ))
    except TimeoutError as late:
        raise SourceUnavailable(f"pip gave {late}") from None


def last_error(stderr: str) -> str:
    """Return the last error that pip printed."""
    errors = [line for line in stderr.splitlines() if line.startswith("ERROR")]
    return errors[-1].removeprefix("ERROR:").strip()[:200] if errors else "pip failed"
