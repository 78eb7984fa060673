"""Choose `pulumi-resource-kubernetes`: the official plugin, else the stand-in.

The official plugin is on no package registry; Pulumi installs it from its own sites. If they do not
answer, they are not asked again for a day. The stand-in is sandbox/kubernetes_plugin.
"""

import importlib.metadata
import os
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from sandbox.toolchain.errors import SourceUnavailable, ToolchainError
from sandbox.toolchain.install import Toolchain
from sandbox.toolchain.network import CONNECT_SECONDS, unreachable
from sandbox.toolchain.processes import capture, interruptible
from sandbox.toolchain.store import Installed

EXECUTABLE = "pulumi-resource-kubernetes"
SITES = ("https://api.github.com", "https://get.pulumi.com")
STAND_IN = Path(__file__).parents[1] / "kubernetes_plugin" / "bin"
RETRY_VARIABLE = "CODER_STACK_PLUGIN_RETRY"
_INSTALL_SECONDS = 120.0
_REMEMBER_SECONDS = 24 * 3600.0
_FOLDER_VERSION = re.compile(r"resource-kubernetes-v(\d+\.\d+\.\d+)")


@dataclass(frozen=True)
class PluginChoice:
    """The chosen plugin, its folder for PATH, and the reason."""

    source: Literal["official-path", "official-install", "stand-in"]
    version: str
    bin_dir: Path
    reason: str


class _FailedInstall(BaseModel):
    version: str
    at: float
    reason: str


@dataclass(frozen=True, kw_only=True)
class PluginFinder:
    """Chooses a plugin for one toolchain. Tests may replace any field."""

    toolchain: Toolchain
    version: str
    stand_in: Path = STAND_IN
    sites: Sequence[str] = SITES
    connect_seconds: float = CONNECT_SECONDS
    install_seconds: float = _INSTALL_SECONDS

    @staticmethod
    def from_environment() -> "PluginFinder":
        """Return a finder for the program's version of the SDK."""
        version = importlib.metadata.version("pulumi-kubernetes")
        return PluginFinder(toolchain=Toolchain.from_environment(), version=version)

    def find(self) -> PluginChoice:
        """Return the plugin that is available without a download."""
        if chosen := self._on_path() or self._installed():
            return chosen
        failed = self._failed_install()
        return self._stand_in(failed.reason if failed else "the official one is not installed")

    def choose(self, pulumi: Installed, *, retry: bool = False) -> PluginChoice:
        """Return the official plugin; install it if possible, else return the stand-in."""
        if chosen := self._on_path() or self._installed():
            return chosen
        failed = self._failed_install()
        if failed and not retry:
            return self._stand_in(failed.reason)
        try:
            self._install(pulumi)
        except SourceUnavailable as why:
            return self._stand_in(str(why))
        except OSError as error:
            return self._stand_in(f"nothing can be installed ({error.strerror or error})")
        return self._installed() or self._stand_in("the official one cannot be started here")

    def _on_path(self) -> PluginChoice | None:
        for folder in self.toolchain.search_path.split(os.pathsep):
            where = shutil.which(EXECUTABLE, path=folder) if folder else None
            if where is None or self._is_stand_in(Path(where).resolve().parent):
                continue
            version = _FOLDER_VERSION.search(str(Path(where).resolve()))
            return PluginChoice(
                "official-path", version[1] if version else "unknown", Path(where).parent, "on PATH"
            )
        return None

    def _is_stand_in(self, folder: Path) -> bool:
        """Return whether it is the stand-in, of this checkout or of another one on PATH."""
        return folder == self.stand_in.resolve() or folder.parts[-3:] == STAND_IN.parts[-3:]

    def _installed(self) -> PluginChoice | None:
        found = self.toolchain.store.lookup(self._folder)
        if found is None:
            return None
        return PluginChoice("official-install", found.version, found.path.parent, found.reason)

    def _stand_in(self, reason: str) -> PluginChoice:
        if not os.access(self.stand_in / EXECUTABLE, os.X_OK):
            raise ToolchainError(
                f"{EXECUTABLE} {self.version} cannot be installed: {reason}, "
                f"and there is no stand-in in {self.stand_in}."
            )
        return PluginChoice("stand-in", self.version, self.stand_in, reason)

    def _install(self, pulumi: Installed) -> None:
        if self.toolchain.offline:
            raise SourceUnavailable("Pulumi's sites are not asked, CODER_STACK_OFFLINE is set")
        store, progress = self.toolchain.store, self.toolchain.progress
        with interruptible(), store.lock(progress):
            if self._installed():
                return
            try:
                self._ask_sites()
                with (
                    store.stage(EXECUTABLE) as home,
                    store.stage(EXECUTABLE) as staged,
                    progress.step(EXECUTABLE, f"installing {self.version}"),
                ):
                    made = self._run_pulumi(pulumi, home, staged)
                    store.install(staged, self._folder, made, files=[made.path])
            except SourceUnavailable as why:
                self._remember(str(why))
                raise
            self._failed_install_file.unlink(missing_ok=True)

    def _ask_sites(self) -> None:
        reasons = [unreachable(site, seconds=self.connect_seconds) for site in self.sites]
        if all(reasons):
            raise SourceUnavailable(f"Pulumi's sites cannot be reached ({reasons[0]})")

    def _run_pulumi(self, pulumi: Installed, home: Path, staged: Path) -> Installed:
        command = [pulumi.path, "plugin", "install", "resource", "kubernetes", self.version]
        env = {**os.environ, "PULUMI_HOME": str(home), "PULUMI_SKIP_UPDATE_CHECK": "1"}
        try:
            answer = capture([*command, "--non-interactive"], seconds=self.install_seconds, env=env)
        except TimeoutError as late:
            raise SourceUnavailable(f"pulumi plugin install gave {late}") from None
        made = home / "plugins" / f"resource-kubernetes-v{self.version}"
        if answer.code != 0 or not (made / EXECUTABLE).is_file():
            said = [line.strip() for line in answer.stderr.splitlines() if line.strip()]
            raise SourceUnavailable(
                f"pulumi plugin install failed ({said[-1][:200] if said else 'silently'})"
            )
        made.rename(staged / "bin")
        return Installed(
            EXECUTABLE, self.version, "release", staged / "bin" / EXECUTABLE, "installed by Pulumi"
        )

    @property
    def _folder(self) -> Path:
        return self.toolchain.store.folder(EXECUTABLE, self.version, self.toolchain.platform)

    @property
    def _failed_install_file(self) -> Path:
        return self.toolchain.cache / "plugin-unavailable.json"

    def _failed_install(self) -> _FailedInstall | None:
        if os.environ.get(RETRY_VARIABLE):
            return None
        try:
            failed = _FailedInstall.model_validate_json(self._failed_install_file.read_bytes())
        except (OSError, ValidationError):
            return None
        fresh = 0 <= time.time() - failed.at < _REMEMBER_SECONDS
        return failed if fresh and failed.version == self.version else None

    def _remember(self, reason: str) -> None:
        failed = _FailedInstall(version=self.version, at=time.time(), reason=reason)
        self._failed_install_file.write_text(failed.model_dump_json() + "\n")


def kubernetes_plugin(pulumi: Installed, *, retry: bool = False) -> PluginChoice:
    """Return the plugin for this engine; `retry` asks Pulumi's sites again after a failure."""
    return PluginFinder.from_environment().choose(pulumi, retry=retry)
