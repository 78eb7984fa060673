"""Install tools: use what is on PATH, else download, else build.

Releases of all missing tools are tried before the first build, because they are faster, and because
disk space and Go are needed only for the rest.
"""

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import monotonic

from sandbox.toolchain.api_documents import ApiDocuments
from sandbox.toolchain.attempts import SourceAttempts
from sandbox.toolchain.browser import Browser
from sandbox.toolchain.build import Builder, check_room, free_bytes
from sandbox.toolchain.catalogue import CATALOGUE, MODULES, PART_GIGABYTES
from sandbox.toolchain.chosen import chosen_catalogue
from sandbox.toolchain.errors import SourceUnavailable, ToolchainError
from sandbox.toolchain.golang import WHEEL_LOCK, Go
from sandbox.toolchain.on_path import Found, find_on_path
from sandbox.toolchain.platforms import Platform, this_platform
from sandbox.toolchain.processes import interruptible
from sandbox.toolchain.progress import ProgressReporter, duration, progress_for
from sandbox.toolchain.recipes import Tool
from sandbox.toolchain.release import DownloadTimeouts, Releases
from sandbox.toolchain.store import Installed, Source, Store
from sandbox.toolchain.wheels import Wheels

_LINKED = "-linked"
_HOSTS_OF_THIS_RUN: dict[str, str | None] = {}


def cache_dir() -> Path:
    """Return the folder for all tools."""
    chosen = os.environ.get("CODER_STACK_CACHE")
    return (
        Path(chosen).expanduser().absolute() if chosen else Path.home() / ".cache" / "coder-stack"
    )


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """The tools of one cache. Tests may replace any field."""

    cache: Path
    platform: Platform = field(default_factory=this_platform)
    path: str | None = None
    releases_root: str | None = None
    offline: bool = False
    timeouts: DownloadTimeouts = field(default_factory=DownloadTimeouts)
    known_hosts: dict[str, str | None] = field(default_factory=dict[str, str | None])
    catalogue: Mapping[str, Tool] = field(default_factory=lambda: CATALOGUE)
    modules: Path = MODULES
    go_wheel: Path = WHEEL_LOCK
    part_gigabytes: Mapping[str, float] = field(default_factory=lambda: PART_GIGABYTES)
    free: Callable[[Path], int] = free_bytes
    progress: ProgressReporter = field(default_factory=progress_for)

    @staticmethod
    def from_environment() -> "Toolchain":
        """Return a toolchain with the options in environment variables."""
        return Toolchain(
            cache=cache_dir(),
            releases_root=os.environ.get("CODER_STACK_RELEASES") or None,
            offline=os.environ.get("CODER_STACK_OFFLINE", "") not in {"", "0"},
            known_hosts=_HOSTS_OF_THIS_RUN,
            catalogue=chosen_catalogue(os.environ),
        )

    @cached_property
    def store(self) -> Store:
        """Return the cache."""
        return Store(self.cache)

    @cached_property
    def search_path(self) -> str:
        """Return PATH without this cache's folders, which the sandbox's commands add."""
        entries = (self.path or os.environ.get("PATH", os.defpath)).split(os.pathsep)
        kept = [e for e in entries if e and not Path(e).is_relative_to(self.store.tools)]
        return os.pathsep.join(kept)

    @cached_property
    def releases(self) -> Releases:
        """Return the vendors' sites."""
        return Releases(
            root=self.releases_root,
            offline=self.offline,
            timeouts=self.timeouts,
            known_hosts=self.known_hosts,
        )

    @cached_property
    def go(self) -> Go:
        """Return the finder of Go."""
        return Go(self.store, self.platform, self.search_path, self.go_wheel)

    @cached_property
    def browser(self) -> Browser:
        """Return the finder of a browser."""
        return Browser(self.store, self.platform, self.search_path)

    def ensure_browser(self) -> Installed:
        """Return the browser for tests; install it if necessary."""
        try:
            return self.browser.find()
        except SourceUnavailable:
            return self._install_one("chromium", lambda: self.browser.ensure(self.progress))

    def ensure_wheels(self, name: str) -> Path:
        """Return a folder with the Python packages in `modules/<name>/requirements.txt`."""
        locked = Wheels(self.store, self.platform, name, self.modules / name / "requirements.txt")
        installed = locked.find() or self._install_one(name, lambda: locked.ensure(self.progress))
        return installed.path.parent

    @cached_property
    def api_documents(self) -> ApiDocuments:
        """Return the finder of Coder's API documents."""
        return ApiDocuments(self.store, self.platform, self.go, self.modules)

    def ensure_api_documents(self) -> Mapping[str, Path]:
        """Return Coder's API document of each tried version; download what is missing."""
        found = self.api_documents.find()
        if len(found) == len(self.api_documents.versions):
            return found
        try:
            with self._locked():
                return self.api_documents.ensure(self.progress)
        except SourceUnavailable as why:
            raise ToolchainError(
                f"Coder's API documents cannot be downloaded: {str(why).rstrip('.')}; connect this "
                "machine to the Go module proxy, or leave out the tests in tests/specification."
            ) from None

    def _install_one(self, name: str, install: Callable[[], Installed]) -> Installed:
        try:
            with self._locked():
                return install()
        except SourceUnavailable as why:
            raise ToolchainError(f"{name} cannot be installed: {why}.") from None

    @contextmanager
    def _locked(self) -> Generator[None]:
        try:
            with interruptible(), self.store.lock(self.progress):
                yield
        except OSError as error:
            raise ToolchainError(
                f"Tools cannot be installed into {self.cache}: {error.strerror or error}."
            ) from error

    def find(self, name: str) -> Installed | None:
        """Return a tool if it is installed."""
        tool = self._tool(name)
        try:
            found = self._on_path(tool)
        except SourceUnavailable:
            return self.store.lookup(self._folder(tool))
        if not self._needs_link(tool):
            return _from_path(tool, found.version, found.path)
        linked = self.store.lookup(self._link_folder(tool, found))
        if linked is not None and linked.path.resolve() == found.path.resolve():
            return linked
        return self.store.lookup(self._folder(tool))

    def ensure(self, names: Iterable[str]) -> dict[str, Installed]:
        """Return all of these tools; install what is missing."""
        wanted = list(dict.fromkeys(names))
        have = {name: found for name in wanted if (found := self.find(name))}
        if len(have) < len(wanted) or self._leftovers():
            with self._locked():
                have = {name: found for name in wanted if (found := self.find(name))}
                have |= self._install([self._tool(n) for n in wanted if n not in have])
                self._drop_caches()
        return {name: have[name] for name in wanted}

    def _install(self, missing: list[Tool]) -> dict[str, Installed]:
        have: dict[str, Installed] = {}
        attempts = {tool.name: SourceAttempts(tool) for tool in missing}
        for tool in missing:
            tried = attempts[tool.name]
            installed = self._try_path(tool, tried) or self._try_release(tool, tried)
            if installed:
                have[tool.name] = installed
        to_build = [tool for tool in missing if tool.name not in have]
        if to_build:
            builder = self._builder(to_build, attempts)
            self.progress.say(
                f"toolchain: building {', '.join(tool.name for tool in to_build)} from source, "
                "once; this takes minutes"
            )
            for tool in to_build:
                have[tool.name] = self._build(tool, attempts[tool.name], builder)
        return have

    def _try_path(self, tool: Tool, tried: SourceAttempts) -> Installed | None:
        """Use a tool on PATH; if its files are missing, put them beside a link to it."""
        try:
            found = self._on_path(tool)
            if not self._needs_link(tool):
                return _from_path(tool, found.version, found.path)
            with self.store.stage(tool.name) as staged, self.progress.step(tool.name, "completing"):
                bin_dir = _bin(staged)
                (bin_dir / tool.name).symlink_to(found.path)
                files = [bin_dir / tool.name, *self._files_beside(tool, bin_dir)]
                made = _from_path(tool, found.version, files[0])
                folder = self._link_folder(tool, found)
                return self.store.install(staged, folder, made, files=files)
        except SourceUnavailable as why:
            tried.add_failure("on PATH", why)
            return None

    def _files_beside(self, tool: Tool, bin_dir: Path) -> list[Path]:
        try:
            return self.releases.module_files(tool, bin_dir)
        except SourceUnavailable as why:
            names = ", ".join(file.output for file in tool.files)
            try:
                go = self.go.ensure(self.progress)
                return Builder(self.store, self.platform, go, self.modules).module_files(
                    tool, bin_dir
                )
            except SourceUnavailable as also:
                raise SourceUnavailable(
                    f"found, but {names} cannot be installed ({why}; {also})"
                ) from None

    def _try_release(self, tool: Tool, tried: SourceAttempts) -> Installed | None:
        started = monotonic()
        try:
            self.releases.offers(tool, self.platform)
            with (
                self.store.stage(tool.name) as staged,
                self.progress.step(tool.name, f"downloading {tool.version}") as detail,
            ):
                files = self.releases.download(tool, self.platform, _bin(staged), detail)
                installed = self._finish(tool, staged, files, "release", tried.summary())
        except SourceUnavailable as why:
            tried.add_failure("release", why)
            return None
        self._report(installed, started)
        return installed

    def _builder(self, tools: list[Tool], attempts: dict[str, SourceAttempts]) -> Builder:
        check_room(self.store, tools, self.part_gigabytes, self.free)
        try:
            go = self.go.ensure(self.progress)
        except SourceUnavailable as why:
            tried = attempts[tools[0].name]
            tried.add_failure("build", why)
            raise tried.error(also=[tool.name for tool in tools[1:]]) from None
        return Builder(self.store, self.platform, go, self.modules)

    def _build(self, tool: Tool, tried: SourceAttempts, builder: Builder) -> Installed:
        started = monotonic()
        doing = f"building {tool.version} with Go {builder.go.version}"
        try:
            with self.store.stage(tool.name) as staged, self.progress.step(tool.name, doing):
                files = builder.build(tool, _bin(staged))
                installed = self._finish(tool, staged, files, "build", tried.summary())
        except SourceUnavailable as why:
            tried.add_failure("build", why)
            raise tried.error() from None
        self._report(installed, started)
        return installed

    def _finish(
        self, tool: Tool, staged: Path, files: list[Path], source: Source, reason: str
    ) -> Installed:
        made = Installed(tool.name, tool.version, source, _bin(staged) / tool.name, reason)
        return self.store.install(staged, self._folder(tool), made, files=files)

    def _report(self, installed: Installed, started: float) -> None:
        how = "downloaded" if installed.source == "release" else "built from source"
        since = duration(monotonic() - started)
        self.progress.say(
            f"{installed.name}: {installed.version} {how} in {since} ({installed.reason})"
        )

    def _leftovers(self) -> bool:
        """Return whether a killed run has left Go caches or staging folders."""
        left = self.store.go_caches.exists() or (
            self.store.staging.exists() and any(self.store.staging.iterdir())
        )
        return left and not self.store.is_locked()

    def _drop_caches(self) -> None:
        if self.store.go_caches.exists():
            with self.progress.step("toolchain", "removing the build caches"):
                self.store.drop_go_caches()

    def _tool(self, name: str) -> Tool:
        try:
            return self.catalogue[name]
        except KeyError:
            known = ", ".join(self.catalogue)
            raise ToolchainError(f"There is no tool named {name}; there are {known}.") from None

    def _on_path(self, tool: Tool) -> Found:
        if tool.probe is None:
            raise SourceUnavailable(f"not looked for, {tool.not_from_path}")
        return find_on_path(tool.name, tool.probe, path=self.search_path)

    def _needs_link(self, tool: Tool) -> bool:
        beside = tool.probe.beside if tool.probe else ()
        return any(file.output not in beside for file in tool.files)

    def _folder(self, tool: Tool) -> Path:
        return self.store.folder(tool.name, tool.version, self.platform)

    def _link_folder(self, tool: Tool, found: Found) -> Path:
        return self.store.folder(tool.name, found.version, self.platform, _LINKED)


def _from_path(tool: Tool, version: str, path: Path) -> Installed:
    return Installed(tool.name, version, "path", path, "on PATH and new enough")


def _bin(folder: Path) -> Path:
    path = folder / "bin"
    path.mkdir(exist_ok=True)
    return path
