"""Coder's own documents of its API, one per tried version, for tests/specification.

A document is a file of Coder's Go module. The module is downloaded to a staging folder and verified
with `modules/coder-api/go.sum`; then only the document is kept. A killed run leaves no part of one.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from coder_stack.coderd.versions import TRIED
from sandbox.toolchain.build import Builder
from sandbox.toolchain.errors import SourceUnavailable
from sandbox.toolchain.golang import Go
from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.progress import ProgressReporter, duration
from sandbox.toolchain.store import Installed, Store, remove_tree

NAME = "coder-api"
"""Of the folder in the cache, and of the lock in `modules/`."""
MODULE = "github.com/coder/coder/v2"
_DOCUMENT = "coderd/apidoc/swagger.json"
REASON = "files of Coder's Go module, only for the tests"
_ADDRESS = re.compile(r'"?https?://[^\s"]+"?:?\s*')


@dataclass(frozen=True)
class ApiDocuments:
    """Finds the documents in the store, or downloads them."""

    store: Store
    platform: Platform
    go: Go
    modules: Path
    versions: Sequence[str] = TRIED

    @property
    def folder(self) -> Path:
        """Return where all of them are."""
        return self.store.tools / NAME

    def find(self) -> dict[str, Path]:
        """Return those in the cache, by version."""
        found = {version: self.store.lookup(self.folder / version) for version in self.versions}
        return {version: _file(each) for version, each in found.items() if each}

    def damaged(self) -> list[str]:
        """Return the versions whose document has changed since it was downloaded."""
        return [version for version in self.find() if self.store.damaged(self.folder / version)]

    def drop(self, versions: Sequence[str]) -> None:
        """Remove documents, so that they are downloaded again. Needs the store's lock."""
        for version in versions:
            remove_tree(self.folder / version)

    def ensure(self, progress: ProgressReporter) -> Mapping[str, Path]:
        """Return all; download what is missing. Needs the store's lock."""
        found = self.find()
        missing = [version for version in self.versions if version not in found]
        if missing:
            go = self.go.ensure(progress)
            found |= {version: self._install(version, go, progress) for version in missing}
        return {version: found[version] for version in self.versions}

    def _install(self, version: str, go: Installed, progress: ProgressReporter) -> Path:
        started = monotonic()
        with (
            self.store.stage(NAME) as staged,
            progress.step(NAME, f"downloading {version} of Coder"),
        ):
            # Go's caches are below the staging folder, and are removed with it.
            caches = Store(staged / "caches")
            try:
                module = Builder(caches, self.platform, go, self.modules).download(
                    NAME, f"{MODULE}@{version}"
                )
            except SourceUnavailable as why:
                raise SourceUnavailable(f"{version}: {_one_line(str(why))}") from None
            kept = staged / "kept"
            kept.mkdir()
            document = kept / Path(_DOCUMENT).name
            shutil.copyfile(module / _DOCUMENT, document)
            installed = Installed(NAME, version, "release", kept, REASON)
            installed = self.store.install(kept, self.folder / version, installed, files=[document])
        progress.say(f"{NAME}: {version} downloaded in {duration(monotonic() - started)}")
        return _file(installed)


def _file(installed: Installed) -> Path:
    return installed.path / Path(_DOCUMENT).name


def _one_line(text: str) -> str:
    """Return a reason of Go without line breaks and without the proxy's address."""
    return " ".join(_ADDRESS.sub("", text).split())
