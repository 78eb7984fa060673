"""Run as a process of its own: build the tiny tool below a folder, with the Go that PATH has."""

import sys
from pathlib import Path

from sandbox.toolchain.install import Toolchain
from tests.unit.toolchain.machines import describe_tiny

if __name__ == "__main__":
    root = Path(sys.argv[1])
    Toolchain(
        cache=root / "cache", modules=root / "modules", catalogue={"tiny": describe_tiny()}
    ).ensure(["tiny"])
