"""This machine's platform, in the names of Go and most vendors."""

import platform as machine
from dataclasses import dataclass
from typing import Literal

from sandbox.toolchain.errors import ToolchainError

System = Literal["linux", "darwin"]
Architecture = Literal["amd64", "arm64"]

_SYSTEMS: dict[str, System] = {"Linux": "linux", "Darwin": "darwin"}
_ARCHITECTURES: dict[str, Architecture] = {
    "x86_64": "amd64",
    "amd64": "amd64",
    "aarch64": "arm64",
    "arm64": "arm64",
}


@dataclass(frozen=True)
class Platform:
    """An operating system and a processor."""

    os: System
    arch: Architecture

    def __str__(self) -> str:
        return f"{self.os}-{self.arch}"


def platform_of(system: str, processor: str) -> Platform:
    """Translate Python's names (`platform.system()`, `platform.machine()`)."""
    os, arch = _SYSTEMS.get(system), _ARCHITECTURES.get(processor.lower())
    if os is None or arch is None:
        raise ToolchainError(
            "The sandbox runs on Linux and macOS (amd64 or arm64); "
            f"this machine is {system} {processor}."
        )
    return Platform(os, arch)


def this_platform() -> Platform:
    """Return the platform of this machine."""
    return platform_of(machine.system(), machine.machine())
