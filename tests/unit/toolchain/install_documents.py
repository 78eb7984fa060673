"""Run as a process of its own: download API documents below a folder, with the Go on PATH."""

import sys
from dataclasses import replace
from pathlib import Path

from sandbox.toolchain.install import Toolchain

if __name__ == "__main__":
    root = Path(sys.argv[1])
    toolchain = Toolchain(cache=root / "cache", modules=root / "modules")
    documents = replace(toolchain.api_documents, versions=sys.argv[2:])
    with toolchain.store.lock(toolchain.progress):
        documents.ensure(toolchain.progress)
