"""A headless browser for the tests of the HTML report.

`CODER_STACK_BROWSER`, else one on PATH, else Debian's package: apt downloads and verifies it, then
it is unpacked into the cache with its missing libraries, which needs no root.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from sandbox.toolchain.errors import SourceUnavailable
from sandbox.toolchain.on_path import find_on_path
from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.processes import CommandResult, capture
from sandbox.toolchain.progress import ProgressReporter
from sandbox.toolchain.recipes import VersionProbe, parse_version, version_text
from sandbox.toolchain.store import Installed, Store

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PROBE = VersionProbe(arguments=("--version",), at_least=(120, 0, 0), below=(1000, 0, 0))
_PACKAGE = "chromium-headless-shell"
_SECONDS = 600.0
_FILE = re.compile(r"^'\S+' (\S+?)_\S+\.deb ", re.MULTILINE)


@dataclass(frozen=True)
class Browser:
    """Finds a browser, or unpacks one into the store."""

    store: Store
    platform: Platform
    path: str | None = None

    def find(self) -> Installed:
        """Return the browser, or raise SourceUnavailable with the reason."""
        if chosen := os.environ.get("CODER_STACK_BROWSER"):
            if not os.access(chosen, os.X_OK):
                raise SourceUnavailable(f"CODER_STACK_BROWSER is {chosen}, which cannot be run")
            return Installed("chromium", "", "path", Path(chosen), "named by CODER_STACK_BROWSER")
        why = ""
        for name in NAMES:
            try:
                found = find_on_path(name, PROBE, path=self.path)
            except SourceUnavailable as reason:
                why = why or str(reason)
                continue
            return Installed(
                "chromium", found.version, "path", found.path, "on PATH and new enough"
            )
        for folder in sorted((self.store.tools / "chromium").glob(f"*-{self.platform}")):
            if installed := self.store.lookup(folder):
                return installed
        raise SourceUnavailable(why)

    def ensure(self, progress: ProgressReporter) -> Installed:
        """Return the browser; unpack Debian's package if necessary. Needs the store's lock."""
        try:
            return self.find()
        except SourceUnavailable as why:
            return self._install(str(why), progress)

    def _install(self, why: str, progress: ProgressReporter) -> Installed:
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            raise SourceUnavailable(
                f"on PATH {why}, and only Debian's package is known here: install Chromium or "
                "Chrome, or set CODER_STACK_BROWSER to one"
            )
        with self.store.stage("chromium") as staged, progress.step("chromium", "downloading"):
            packages = _download(staged / "packages")
            for package in packages:
                _run("dpkg-deb", "--extract", str(package), str(staged))
            version = _version(packages)
            shutil.rmtree(staged / "packages")
            started = _starter(staged)
            folder = self.store.folder("chromium", version, self.platform)
            found = Installed("chromium", version, "release", started, f"on PATH {why}")
            program = staged / "usr" / "lib" / "chromium" / _PACKAGE
            return self.store.install(staged, folder, found, files=[started, program])


def _download(into: Path) -> list[Path]:
    """Download the package and missing libraries; retry with updated package lists."""
    into.mkdir()
    try:
        _fetch(into, ())
    except SourceUnavailable:
        lists = into.parent / "lists"
        (lists / "partial").mkdir(parents=True)
        own = ("-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={lists / 'cache'}")
        _run("apt-get", *own, "update")
        _fetch(into, own)
        shutil.rmtree(lists)
    return sorted(into.glob("*.deb"))


def _fetch(into: Path, options: tuple[str, ...]) -> None:
    wanted = _run(
        "apt-get", *options, "install", "--print-uris", "--yes", "--no-install-recommends", _PACKAGE
    )
    names = _FILE.findall(wanted.stdout)
    if _PACKAGE not in names:
        raise SourceUnavailable(f"apt-get has no {_PACKAGE}")
    _run("apt-get", *options, "download", *names, cwd=into)


def _starter(root: Path) -> Path:
    """Write a script that runs the program with the unpacked libraries."""
    libraries = sorted({file.parent for file in (root / "usr" / "lib").rglob("*.so*")})
    places = ":".join(f"$root/{folder.relative_to(root)}" for folder in libraries)
    lines = [
        "#!/bin/sh",
        'root=$(cd "$(dirname "$0")/.." && pwd)',
        f'export LD_LIBRARY_PATH="{places}"',
    ]
    if (root / "etc" / "fonts").is_dir():  # this machine has no fonts of its own
        lines.append('export FONTCONFIG_SYSROOT="$root"')
    lines.append(f'exec "$root/usr/lib/chromium/{_PACKAGE}" "$@"')
    script = root / "bin" / "chromium"
    script.parent.mkdir(exist_ok=True)
    script.write_text("\n".join(lines) + "\n")
    script.chmod(0o755)
    return script


def _version(packages: list[Path]) -> str:
    name = next(package.name for package in packages if package.name.startswith(f"{_PACKAGE}_"))
    version = parse_version(name)
    if version is None:
        raise SourceUnavailable(f"{name} has no version")
    return version_text(version)


def _run(*command: str, cwd: Path | None = None) -> CommandResult:
    try:
        answer = capture(command, seconds=_SECONDS, cwd=cwd)
    except TimeoutError as late:
        raise SourceUnavailable(f"{command[0]} gave {late}") from None
    if answer.code != 0:
        said = answer.stderr.strip().splitlines()
        raise SourceUnavailable(f"{command[0]} failed ({said[-1][:200] if said else 'no word'})")
    return answer
