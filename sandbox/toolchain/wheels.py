"""Python packages for the tests that would get in the way of the program's own dependencies.

moto's AWS library, for one, wants an older dateutil than the kubernetes client. Each set has a
lock with hashes, `modules/<name>/requirements.txt`, and lies in the cache in a folder of its own.
"""

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from sandbox.toolchain.errors import Unavailable
from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.processes import capture
from sandbox.toolchain.progress import Progress
from sandbox.toolchain.store import Installed, Store

_SECONDS = 600.0
_MARK = "python"


@dataclass(frozen=True)
class Wheels:
    """One locked set."""

    store: Store
    platform: Platform
    name: str
    lock: Path

    def find(self) -> Installed | None:
        """The folder's mark, if the set of exactly this lock and this Python is there."""
        return self.store.lookup(self._folder)

    def ensure(self, progress: Progress) -> Installed:
        """Look, else install. Only for the holder of the store's lock."""
        return self.find() or self._install(progress)

    @property
    def _version(self) -> str:
        digest = hashlib.sha256(self.lock.read_bytes()).hexdigest()[:12]
        return f"{digest}-python{sys.version_info.major}.{sys.version_info.minor}"

    @property
    def _folder(self) -> Path:
        return self.store.folder(self.name, self._version, self.platform)

    def _install(self, progress: Progress) -> Installed:
        with self.store.stage(self.name) as staged, progress.step(self.name, "installing"):
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input"]
            command += ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
            command += ["--retries", "1", "--timeout", "30", "--require-hashes"]
            command += ["--target", str(staged), "--requirement", str(self.lock)]
            try:
                answer = capture(command, seconds=_SECONDS, env=dict(os.environ))
            except TimeoutError as late:
                raise Unavailable(f"pip gave {late}") from None
            if answer.code != 0:
                said = [line for line in answer.stderr.splitlines() if line.startswith("ERROR")]
                raise Unavailable(f"pip failed ({said[-1][:200] if said else 'no word'})")
            # The store knows a tool by a file that can be run: here, the Python it was made for.
            mark = staged / _MARK
            mark.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
            mark.chmod(0o755)
            found = Installed(self.name, self._version, "release", mark, "only for the tests")
            return self.store.install(staged, self._folder, found, files=[mark])
