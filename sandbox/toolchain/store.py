"""The cache: installed tools with manifests, staging folders, Go caches, logs, and a lock.

    <cache>/tools/<name>/<version>-<os>-<arch>/manifest.json and bin/…
    <cache>/staging/…      installations in progress; leftovers while nobody has the lock
    <cache>/go/…           Go's caches during builds
A tool is installed by renaming a complete folder, so it is there completely or not at all.
"""

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Generator, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.progress import ProgressReporter

Source = Literal["path", "release", "build"]
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Installed:
    """An installed tool."""

    name: str
    version: str
    source: Source
    path: Path
    reason: str


class RecordedFile(BaseModel):
    """Size and checksum of a file when it was installed."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    size: int
    sha256: str


class Manifest(BaseModel):
    """The description of an installed tool, stored beside it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    version: str
    source: Source
    reason: str
    executable: str
    files: dict[str, RecordedFile]


@dataclass(frozen=True)
class Holder:
    """The process that has the lock."""

    pid: int
    command: str


class Store:
    """The cache folder of one user."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tools = root / "tools"
        self.staging = root / "staging"
        self.go_caches = root / "go"
        self.logs = root / "logs"

    def folder(self, name: str, version: str, platform: Platform, variant: str = "") -> Path:
        """Return the folder of a tool."""
        return self.tools / name / f"{version}-{platform}{variant}"

    def lookup(self, folder: Path) -> Installed | None:
        """Return the tool in a folder, if its files exist and have the recorded sizes."""
        manifest = self._manifest(folder)
        if manifest is None:
            return None
        for name, recorded in manifest.files.items():
            try:
                if (folder / name).stat().st_size != recorded.size:
                    return None
            except OSError:
                return None
        executable = folder / manifest.executable
        if not os.access(executable, os.X_OK):
            return None
        return Installed(
            manifest.name, manifest.version, manifest.source, executable, manifest.reason
        )

    def damaged(self, folder: Path) -> list[str]:
        """Return the files whose checksum has changed."""
        manifest = self._manifest(folder)
        if manifest is None:
            return [MANIFEST]
        return [
            name
            for name, recorded in manifest.files.items()
            if not (folder / name).is_file() or sha256_of(folder / name) != recorded.sha256
        ]

    @contextlib.contextmanager
    def stage(self, name: str) -> Generator[Path]:
        """Create a folder on the same file system for preparing a tool; remove it at the end."""
        self.staging.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.staging))
        try:
            yield folder
        finally:
            remove_tree(folder)

    def install(
        self, staged: Path, folder: Path, found: Installed, *, files: Iterable[Path]
    ) -> Installed:
        """Move a prepared tool atomically into its folder."""
        recorded = {
            str(file.relative_to(staged)): RecordedFile(
                size=file.stat().st_size, sha256=sha256_of(file)
            )
            for file in files
        }
        manifest = Manifest(
            name=found.name,
            version=found.version,
            source=found.source,
            reason=found.reason,
            executable=str(found.path.relative_to(staged)),
            files=recorded,
        )
        (staged / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n")
        for file in (*recorded, MANIFEST):
            _flush(staged / file)
            _flush((staged / file).parent)
        staged.chmod(0o755)
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            remove_tree(self._aside(folder))
        staged.rename(folder)
        _flush(folder.parent)
        installed = self.lookup(folder)
        if installed is None:
            raise OSError(f"{folder} vanished while it was installed")
        return installed

    def go_cache(self, kind: Literal["mod", "build", "tmp"]) -> Path:
        """Return a folder for Go's modules, build cache or temporary files."""
        path = self.go_caches / kind
        path.mkdir(parents=True, exist_ok=True)
        return path

    def drop_go_caches(self) -> None:
        """Remove Go's caches; they are renamed first, so that a kill leaves no incomplete cache."""
        if self.go_caches.exists():
            remove_tree(self._aside(self.go_caches))

    def clean_staging(self) -> None:
        """Remove leftovers of a killed run. Needs the lock."""
        if self.staging.exists():
            for leftover in self.staging.iterdir():
                remove_tree(leftover)

    @contextlib.contextmanager
    def lock(self, progress: ProgressReporter) -> Generator[None]:
        """Lock the cache against other processes; show which one is waited for."""
        self.root.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.root / "toolchain.lock", poll_interval=0.1)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            with progress.step("toolchain", f"waiting for {self._holder()}"):
                lock.acquire()
        try:
            self._note_holder()
            self.clean_staging()
            yield
        finally:
            lock.release()

    def is_locked(self) -> bool:
        """Return whether a process has the lock."""
        lock = FileLock(self.root / "toolchain.lock")
        try:
            lock.acquire(timeout=0)
        except (Timeout, OSError):
            return True
        lock.release()
        return False

    def _note_holder(self) -> None:
        command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:120]
        (self.root / "toolchain.holder").write_text(
            json.dumps(asdict(Holder(os.getpid(), command)))
        )

    def _holder(self) -> str:
        try:
            holder = Holder(**json.loads((self.root / "toolchain.holder").read_text()))
        except (OSError, ValueError, TypeError):
            return "another process that installs tools"
        return f"process {holder.pid} ({holder.command}), which installs tools into {self.root}"

    def _manifest(self, folder: Path) -> Manifest | None:
        try:
            return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        except (OSError, ValidationError):
            return None

    def _aside(self, path: Path) -> Path:
        self.staging.mkdir(parents=True, exist_ok=True)
        aside = self.staging / f"dropped-{path.name}-{os.getpid()}-{time.monotonic_ns()}"
        path.rename(aside)
        return aside


def sha256_of(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_tree(path: Path) -> None:
    """Remove a file or a folder, also a read-only one; ignore errors until the next run."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
        return
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        for folder, _, _ in os.walk(path):
            with contextlib.suppress(OSError):
                Path(folder).chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
