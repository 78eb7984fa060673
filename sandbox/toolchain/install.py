"""The order of things: what is there is used, what is missing is downloaded, else built.

Wires the sources together and tells the story of each tool. Releases are tried for all missing
tools before the first build starts, because they are quicker and because room and Go are only
needed for what is left.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import monotonic

from sandbox.toolchain.browser import Browser
from sandbox.toolchain.build import Builder, check_room, free_bytes
from sandbox.toolchain.catalogue import CATALOGUE, MODULES, PART_GIGABYTES
from sandbox.toolchain.errors import ToolchainError, Unavailable
from sandbox.toolchain.golang import WHEEL_LOCK, Go
from sandbox.toolchain.on_path import Found, look
from sandbox.toolchain.platforms import Platform, this_platform
from sandbox.toolchain.processes import interruptible
from sandbox.toolchain.progress import Progress, duration, progress_for
from sandbox.toolchain.recipes import Tool
from sandbox.toolchain.release import Patience, Releases
from sandbox.toolchain.store import Installed, Source, Store
from sandbox.toolchain.story import Story
from sandbox.toolchain.wheels import Wheels

_LINKED = "-linked"
_HOSTS_OF_THIS_RUN: dict[str, str | None] = {}


def cache_dir() -> Path:
    """The one folder that everything downloaded or built goes to."""
    chosen = os.environ.get("CODER_STACK_CACHE")
    return (
        Path(chosen).expanduser().absolute() if chosen else Path.home() / ".cache" / "coder-stack"
    )


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """The tools of one cache. Everything that a test wants to replace is a field."""

    cache: Path
    platform: Platform = field(default_factory=this_platform)
    path: str | None = None
    releases_root: str | None = None
    offline: bool = False
    patience: Patience = field(default_factory=Patience)
    known_hosts: dict[str, str | None] = field(default_factory=dict[str, str | None])
    catalogue: Mapping[str, Tool] = field(default_factory=lambda: CATALOGUE)
    modules: Path = MODULES
    go_wheel: Path = WHEEL_LOCK
    part_gigabytes: Mapping[str, float] = field(default_factory=lambda: PART_GIGABYTES)
    free: Callable[[Path], int] = free_bytes
    progress: Progress = field(default_factory=progress_for)

    @staticmethod
    def from_environment() -> "Toolchain":
        """As the environment variables say."""
        return Toolchain(
            cache=cache_dir(),
            releases_root=os.environ.get("CODER_STACK_RELEASES") or None,
            offline=os.environ.get("CODER_STACK_OFFLINE", "") not in {"", "0"},
            known_hosts=_HOSTS_OF_THIS_RUN,
        )

    @cached_property
    def store(self) -> Store:
        """The cache folder."""
        return Store(self.cache)

    @cached_property
    def search_path(self) -> str:
        """PATH without this cache's own folders, which are there inside the sandbox's commands."""
        entries = (self.path or os.environ.get("PATH", os.defpath)).split(os.pathsep)
        kept = [e for e in entries if e and not Path(e).is_relative_to(self.store.tools)]
        return os.pathsep.join(kept)

    @cached_property
    def releases(self) -> Releases:
        """The vendors' sites; remembers for this run which of them do not answer."""
        return Releases(
            root=self.releases_root,
            offline=self.offline,
            patience=self.patience,
            known_hosts=self.known_hosts,
        )

    @cached_property
    def go(self) -> Go:
        """Where Go is or would be."""
        return Go(self.store, self.platform, self.search_path, self.go_wheel)

    @cached_property
    def browser(self) -> Browser:
        """Where a browser is or would be."""
        return Browser(self.store, self.platform, self.search_path)

    def ensure_browser(self) -> Installed:
        """The browser of the tests, or an error that says why there is none."""
        try:
            return self.browser.find()
        except Unavailable:
            return self._alone("chromium", lambda: self.browser.ensure(self.progress))

    def ensure_wheels(self, name: str) -> Path:
        """A folder with the Python packages that `modules/<name>/requirements.txt` locks."""
        locked = Wheels(self.store, self.platform, name, self.modules / name / "requirements.txt")
        installed = locked.find() or self._alone(name, lambda: locked.ensure(self.progress))
        return installed.path.parent

    def _alone(self, name: str, install: Callable[[], Installed]) -> Installed:
        try:
            with interruptible(), self.store.lock(self.progress):
                return install()
        except Unavailable as why:
            raise ToolchainError(f"{name} cannot be had: {why}.") from None
        except OSError as error:
            raise ToolchainError(
                f"Tools cannot be installed into {self.cache}: {error.strerror or error}."
            ) from error

    def find(self, name: str) -> Installed | None:
        """The tool as it is on this machine now; None if it would have to be installed."""
        tool = self._tool(name)
        try:
            found = self._on_path(tool)
        except Unavailable:
            return self.store.lookup(self._folder(tool))
        if not self._needs_link(tool):
            return _from_path(tool, found.version, found.path)
        linked = self.store.lookup(self._link_folder(tool, found))
        if linked is not None and linked.path.resolve() == found.path.resolve():
            return linked
        return self.store.lookup(self._folder(tool))

    def ensure(self, names: Iterable[str]) -> dict[str, Installed]:
        """Install what is missing: every tool asked for, or one error that says why not."""
        wanted = list(dict.fromkeys(names))
        have = {name: found for name in wanted if (found := self.find(name))}
        if len(have) < len(wanted) or self._leftovers():
            try:
                with interruptible(), self.store.lock(self.progress):
                    have = {name: found for name in wanted if (found := self.find(name))}
                    have |= self._install([self._tool(n) for n in wanted if n not in have])
                    self._drop_caches()
            except OSError as error:
                raise ToolchainError(
                    f"Tools cannot be installed into {self.cache}: {error.strerror or error}."
                ) from error
        return {name: have[name] for name in wanted}

    def _install(self, missing: list[Tool]) -> dict[str, Installed]:
        have: dict[str, Installed] = {}
        stories = {tool.name: Story(tool) for tool in missing}
        for tool in missing:
            story = stories[tool.name]
            installed = self._try_path(tool, story) or self._try_release(tool, story)
            if installed:
                have[tool.name] = installed
        to_build = [tool for tool in missing if tool.name not in have]
        if to_build:
            builder = self._builder(to_build, stories)
            self.progress.say(
                f"toolchain: building {', '.join(tool.name for tool in to_build)} from source, "
                "once; this takes minutes"
            )
            for tool in to_build:
                have[tool.name] = self._build(tool, stories[tool.name], builder)
        return have

    def _try_path(self, tool: Tool, story: Story) -> Installed | None:
        """A tool on PATH without its files gets a folder: a link to it, and those files."""
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
        except Unavailable as why:
            story.tell("on PATH", why)
            return None

    def _files_beside(self, tool: Tool, bin_dir: Path) -> list[Path]:
        try:
            return self.releases.module_files(tool, bin_dir)
        except Unavailable as why:
            names = ", ".join(file.output for file in tool.files)
            try:
                go = self.go.ensure(self.progress)
                return Builder(self.store, self.platform, go, self.modules).module_files(
                    tool, bin_dir
                )
            except Unavailable as also:
                raise Unavailable(f"found, but {names} cannot be had ({why}; {also})") from None

    def _try_release(self, tool: Tool, story: Story) -> Installed | None:
        started = monotonic()
        try:
            self.releases.offers(tool, self.platform)
            with (
                self.store.stage(tool.name) as staged,
                self.progress.step(tool.name, f"downloading {tool.version}") as detail,
            ):
                files = self.releases.download(tool, self.platform, _bin(staged), detail)
                installed = self._finish(tool, staged, files, "release", story.so_far())
        except Unavailable as why:
            story.tell("release", why)
            return None
        self._report(installed, started)
        return installed

    def _builder(self, tools: list[Tool], stories: dict[str, Story]) -> Builder:
        check_room(self.store, tools, self.part_gigabytes, self.free)
        try:
            go = self.go.ensure(self.progress)
        except Unavailable as why:
            story = stories[tools[0].name]
            story.tell("build", why)
            raise story.error(also=[tool.name for tool in tools[1:]]) from None
        return Builder(self.store, self.platform, go, self.modules)

    def _build(self, tool: Tool, story: Story, builder: Builder) -> Installed:
        started = monotonic()
        doing = f"building {tool.version} with Go {builder.go.version}"
        try:
            with self.store.stage(tool.name) as staged, self.progress.step(tool.name, doing):
                files = builder.build(tool, _bin(staged))
                installed = self._finish(tool, staged, files, "build", story.so_far())
        except Unavailable as why:
            story.tell("build", why)
            raise story.error() from None
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
        """A killed run left Go caches or staging behind, and nobody works on them now."""
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
            raise Unavailable(f"not looked for, {tool.not_from_path}")
        return look(tool.name, tool.probe, path=self.search_path)

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
