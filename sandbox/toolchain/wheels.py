"""Python packages for tests that conflict with the program's own dependencies.

For example, moto's AWS library needs an older dateutil than the kubernetes client. Each set has a
lock with hashes, `modules/<name>/requirements.txt`, and its own folder in the cache.
"""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

from sandbox.toolchain import pip
from sandbox.toolchain.errors import SourceUnavailable
from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.progress import ProgressReporter
from sandbox.toolchain.store import Installed, Store

_MARK = "python"


@dataclass(frozen=True)
class Wheels:
    """A locked set of packages."""

    store: Store
    platform: Platform
    name: str
    lock: Path

    def find(self) -> Installed | None:
        """Return the set if it is installed for this lock and this Python."""
        return self.store.lookup(self._folder)

    def ensure(self, progress: ProgressReporter) -> Installed:
        """Return the set; install it if necessary. Needs the store's lock."""
        return self.find() or self._install(progress)

    @property
    def _version(self) -> str:
        digest = hashlib.sha256(self.lock.read_bytes()).hexdigest()[:12]
        return f"{digest}-python{sys.version_info.major}.{sys.version_info.minor}"

    @property
    def _folder(self) -> Path:
        return self.store.folder(self.name, self._version, self.platform)

    def _install(self, progress: ProgressReporter) -> Installed:
        with self.store.stage(self.name) as staged, progress.step(self.name, "installing"):
            answer = pip.install(self.lock, staged)
            if answer.code != 0:
                raise SourceUnavailable(f"pip failed ({pip.last_error(answer.stderr)})")
            # The store requires an executable: here, a script that starts this Python.
            mark = staged / _MARK
            mark.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
            mark.chmod(0o755)
            found = Installed(self.name, self._version, "release", mark, "only for the tests")
            return self.store.install(staged, self._folder, found, files=[mark])
