"""The third source: build from the Go module proxy, with the versions locked in `modules/<part>`.

Each part is a module with a go.mod and go.sum. Go's caches are in the store, so that a killed build
can continue and the user's own Go is not touched.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.toolchain.errors import SourceUnavailable, ToolchainError
from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.processes import capture, run_logged
from sandbox.toolchain.recipes import GoProgram, ModuleFile, Tool
from sandbox.toolchain.release import join_documents, write_pinned
from sandbox.toolchain.store import Installed, Store

_DOWNLOAD_SECONDS = 600.0
_TRIES = 2
_PASSING_FAULTS = (
    "connection reset",
    "i/o timeout",
    "TLS handshake timeout",
    "unexpected EOF",
    "502 Bad Gateway",
    "503 Service Unavailable",
    "504 Gateway Timeout",
)


def free_bytes(path: Path) -> int:
    """Return the free space of the file system of a path, which need not exist."""
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


@dataclass(frozen=True)
class Builder:
    """Builds tools for one platform into one store."""

    store: Store
    platform: Platform
    go: Installed
    modules: Path

    def build(self, tool: Tool, into: Path) -> list[Path]:
        """Build a tool into a folder, and return its files."""
        log = self.store.logs / f"{tool.name}-build.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")
        return [
            *(self._program(program, into, log) for program in tool.programs),
            *self.module_files(tool, into),
        ]

    def module_files(self, tool: Tool, into: Path) -> list[Path]:
        """Copy a tool's files out of modules, and return them."""
        return [self._file(file, into) for file in tool.files]

    def download(self, part: str, module: str) -> Path:
        """Download a module that `modules/<part>` locks; return its folder."""
        command = [self.go.path, "mod", "download", "-json", module]
        try:
            answer = capture(
                command, seconds=_DOWNLOAD_SECONDS, env=self._environment(), cwd=self._part(part)
            )
        except TimeoutError as late:
            raise SourceUnavailable(f"go mod download {module} gave {late}") from None
        try:
            described = json.loads(answer.stdout)
            if answer.code == 0:
                return Path(described["Dir"])
            said = str(described.get("Error", ""))
        except (ValueError, KeyError):
            said = answer.stderr
        raise SourceUnavailable(f"go mod download {module} failed:\n{_ending(said)}")

    def _program(self, program: GoProgram, into: Path, log: Path) -> Path:
        target = into / program.output
        command = [str(self.go.path), "build", "-mod=readonly", "-trimpath", "-buildvcs=false"]
        command += ["-ldflags", program.ldflags, "-o", str(target), program.package]
        for attempt in range(1, _TRIES + 1):
            before = log.stat().st_size
            cwd = self._part(program.part)
            if run_logged(command, log=log, env=self._environment(), cwd=cwd) == 0:
                return target
            said = log.read_bytes()[before:].decode(errors="replace")
            if attempt == _TRIES or not any(fault in said for fault in _PASSING_FAULTS):
                raise SourceUnavailable(
                    f"go build {program.package} failed:\n{_ending(said)}\n    (all of it: {log})"
                )
        raise AssertionError("unreachable")

    def _file(self, file: ModuleFile, into: Path) -> Path:
        folder = self.download(file.part, file.module)
        return write_pinned(
            file, join_documents((folder / s).read_bytes() for s in file.sources), into
        )

    def _part(self, part: str) -> Path:
        return self.modules / part

    def _environment(self) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if k not in {"GOROOT", "GOBIN"}}
        return {
            **inherited,
            "GOFLAGS": "-modcacherw",
            "GOPATH": str(self.store.go_caches),
            "GOMODCACHE": str(self.store.go_cache("mod")),
            "GOCACHE": str(self.store.go_cache("build")),
            "GOTMPDIR": str(self.store.go_cache("tmp")),
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
            "GO111MODULE": "on",
            "GOOS": self.platform.os,
            "GOARCH": self.platform.arch,
            "CGO_ENABLED": "0",
        }


def check_room(
    store: Store,
    tools: Iterable[Tool],
    gigabytes: Mapping[str, float],
    free: Callable[[Path], int],
) -> None:
    """Refuse a build that would fill the disk; the size of the Go caches counts as free."""
    parts = sorted(frozenset[str]().union(*(tool.parts for tool in tools)))
    needed = sum(gigabytes.get(part, 0.0) for part in parts)
    room = free(store.root) / 1e9
    if room < needed:
        room += tree_bytes(store.go_caches) / 1e9
    if room < needed:
        raise ToolchainError(
            f"Building {', '.join(parts)} needs {needed:.1f} GB in {store.root}, "
            f"and {room:.1f} GB are free: make room, "
            "or set CODER_STACK_CACHE to a folder on a larger disk."
        )


def tree_bytes(folder: Path) -> int:
    """Return the size of all files in a folder."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).lstat().st_size
            except OSError:
                continue
    return total


def _ending(text: str, lines: int = 6) -> str:
    useful = [line for line in text.splitlines() if line.strip() and "go: downloading" not in line]
    return "\n".join(f"    {line[:200]}" for line in useful[-lines:]) or "    (it said nothing)"
