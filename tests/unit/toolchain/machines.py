"""Builders of machines to install tools on: a cache, a PATH of made-up executables, a site."""

import io
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.toolchain.catalogue import CATALOGUE, MODULES
from sandbox.toolchain.golang import WHEEL_LOCK
from sandbox.toolchain.install import Toolchain
from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.progress import PlainProgress
from sandbox.toolchain.recipes import GoProgram, Tool
from sandbox.toolchain.release import DownloadTimeouts

LINUX = Platform("linux", "amd64")
QUICK = DownloadTimeouts(connect=2.0, read=0.4, file=20.0)
# Nobody listens there; a port that was just free could be somebody's by now.
NOBODY = "http://127.0.0.1:1"

SCRIPTED_GO = """
[ "$1" = version ] && { echo go version go1.26.5 linux/amd64; exit 0; }
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\necho made\\n' > "$2" && chmod 755 "$2"
"""


@dataclass
class Machine:
    """One made-up machine below a temporary folder."""

    root: Path
    releases_root: str | None = None
    platform: Platform = LINUX
    catalogue: Mapping[str, Tool] = field(default_factory=lambda: CATALOGUE)
    modules: Path = MODULES
    go_wheel: Path = WHEEL_LOCK
    free: int = 10**12
    offline: bool = False
    log: io.StringIO = field(default_factory=io.StringIO)

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def bin(self) -> Path:
        folder = self.root / "bin"
        folder.mkdir(exist_ok=True)
        return folder

    def has(self, name: str, script: str) -> Path:
        """Put an executable shell script on this machine's PATH."""
        return executable(self.bin / name, script)

    def has_go(self) -> None:
        """Put the real Go on this machine's PATH."""
        (self.bin / "go").symlink_to(real_go())

    def has_scripted_go(self, before_build: str = "") -> None:
        """Put a Go on PATH that makes an executable at once; the real one compiles for seconds."""
        self.has("go", f"{before_build}\n{SCRIPTED_GO}")

    def toolchain(self) -> Toolchain:
        """A fresh run on this machine."""
        return Toolchain(
            cache=self.cache,
            platform=self.platform,
            path=str(self.bin),
            releases_root=self.releases_root,
            offline=self.offline,
            timeouts=QUICK,
            catalogue=self.catalogue,
            modules=self.modules,
            go_wheel=self.go_wheel,
            free=lambda _: self.free,
            progress=PlainProgress(self.log),
        )


def executable(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def real_go() -> Path:
    """Go as `make test` has found or installed it."""
    where = shutil.which("go")
    return Path(where) if where else Toolchain.from_environment().go.find().path


def tiny_tool(modules: Path, *, source: str = "") -> Tool:
    """A program without dependencies, in a wrapper module of its own; only a build gives it."""
    folder = modules / "tiny"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text("module example.test/tiny\n\ngo 1.26\n")
    (folder / "main.go").write_text(
        source or 'package main\n\nvar version = "unset"\n\nfunc main() { println(version) }\n'
    )
    return describe_tiny()


def describe_tiny() -> Tool:
    """How the catalogue would describe that program."""
    program = GoProgram(
        part="tiny",
        package="example.test/tiny",
        output="tiny",
        ldflags="-s -w -X main.version=9.8.7",
    )
    return Tool(
        name="tiny",
        version="9.8.7",
        not_from_path="it is made here",
        no_release="nobody publishes it",
        programs=(program,),
    )


def clean_environment(**more: str) -> dict[str, str]:
    """An environment for a child process, with no proxy in the way of 127.0.0.1."""
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    return {**kept, "PYTHONWARNINGS": "error", **more}
