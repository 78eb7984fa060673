"""The second source: the vendor's release, verified with the vendor's published checksum.

A host that does not answer is not asked again in this run. `root` is the URL of a mirror, which has
each host's files under <root>/<host>/….
"""

import hashlib
import io
import re
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import httpx
from pydantic import BaseModel, ValidationError

from sandbox.toolchain.errors import SourceUnavailable
from sandbox.toolchain.network import CONNECT_SECONDS, unreachable
from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.recipes import ModuleFile, Release, Tool

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class DownloadTimeouts:
    """Timeouts in seconds: to connect, between two chunks, for one file."""

    connect: float = CONNECT_SECONDS
    read: float = 20.0
    file: float = 900.0


class _Asset(BaseModel):
    name: str
    digest: str | None = None


class _ReleaseDescription(BaseModel):
    assets: list[_Asset]


class Releases:
    """The vendors' download sites, or a mirror of them."""

    def __init__(
        self,
        *,
        root: str | None = None,
        offline: bool = False,
        timeouts: DownloadTimeouts | None = None,
        known_hosts: dict[str, str | None] | None = None,
    ) -> None:
        self._root = root.rstrip("/") if root else None
        self._offline = offline
        self._timeouts = timeouts or DownloadTimeouts()
        self._unreachable = {} if known_hosts is None else known_hosts

    def offers(self, tool: Tool, platform: Platform) -> Release:
        """Return a tool's release for this platform, or raise SourceUnavailable."""
        if tool.release is None:
            raise SourceUnavailable(f"not used, {tool.no_release}")
        if reason := tool.release.unpublished.get(platform.os):
            raise SourceUnavailable(f"none, {reason}")
        self._may_ask()
        self._must_answer(tool.release.host)
        return tool.release

    def download(
        self, tool: Tool, platform: Platform, into: Path, detail: Callable[[str], None]
    ) -> list[Path]:
        """Download a tool into a folder, verify it, and return its files."""
        release = self.offers(tool, platform)
        asset = release.path(release.asset, tool.version, platform)
        expected = self._published_checksum(tool, release, platform, PurePosixPath(asset).name)
        archive = into / ".download"
        actual = self._fetch(release.host, asset, archive, detail)
        if actual != expected:
            raise SourceUnavailable(
                f"{PurePosixPath(asset).name} does not match its published checksum "
                f"({actual[:12]}… is not {expected[:12]}…)"
            )
        members = [release.path(member, tool.version, platform) for member in release.members]
        if members:
            files = _unpack(archive, asset, members, into)
            archive.unlink()
        else:
            files = [archive.rename(into / tool.name)]
        for file in files:
            file.chmod(0o755)
        return [*files, *self.module_files(tool, into)]

    def module_files(self, tool: Tool, into: Path) -> list[Path]:
        """Download files beside the release, and verify them with the catalogue's checksums."""
        self._may_ask()
        return [self._module_file(file, into) for file in tool.files if file.published_host]

    def _module_file(self, file: ModuleFile, into: Path) -> Path:
        content = join_documents(
            self._read(file.published_host, f"{file.published_under}/{source}")
            for source in file.sources
        )
        return write_pinned(file, content, into)

    def _published_checksum(
        self, tool: Tool, release: Release, platform: Platform, asset: str
    ) -> str:
        path = release.path(release.checksums, tool.version, platform)
        content = self._read(release.checksums_host or release.host, path).decode(errors="replace")
        match release.checksum_format:
            case "bare":
                candidates = content.split()[:1]
            case "sums":
                lines = (line.split() for line in content.splitlines())
                candidates = [
                    words[0] for words in lines if len(words) == 2 and words[1].lstrip("*") == asset
                ]
            case "github":
                candidates = _digests(content, asset)
        for candidate in candidates:
            if _SHA256.fullmatch(candidate):
                return candidate
        raise SourceUnavailable(f"the vendor publishes no checksum of {asset}")

    def _may_ask(self) -> None:
        if self._offline:
            raise SourceUnavailable("not asked, CODER_STACK_OFFLINE is set")

    def _must_answer(self, host: str) -> None:
        site = self._url(host, "")
        if site not in self._unreachable:
            self._unreachable[site] = unreachable(site, seconds=self._timeouts.connect)
        if why := self._unreachable[site]:
            raise SourceUnavailable(f"{host} cannot be reached ({why})")

    def _give_up(self, host: str, why: str) -> str:
        self._unreachable[self._url(host, "")] = why
        return why

    def _url(self, host: str, path: str) -> str:
        return f"{self._root}/{host}/{path}" if self._root else f"https://{host}/{path}"

    def _read(self, host: str, path: str) -> bytes:
        sink = io.BytesIO()
        self._stream(host, path, sink.write)
        return sink.getvalue()

    def _fetch(self, host: str, path: str, target: Path, detail: Callable[[str], None]) -> str:
        digest, done = hashlib.sha256(), 0
        with target.open("wb") as file:

            def take(piece: bytes) -> None:
                nonlocal done
                file.write(piece)
                digest.update(piece)
                done += len(piece)
                detail(f"{done / 1e6:.0f} MB")

            self._stream(host, path, take)
        return digest.hexdigest()

    def _stream(self, host: str, path: str, take: Callable[[bytes], object]) -> None:
        url = self._url(host, path)
        self._must_answer(host)
        deadline = time.monotonic() + self._timeouts.file
        timeout = httpx.Timeout(self._timeouts.read, connect=self._timeouts.connect)
        try:
            with httpx.stream("GET", url, timeout=timeout, follow_redirects=True) as answer:
                if answer.url.scheme != "https" and self._root is None:
                    raise SourceUnavailable(f"{host} leads away from HTTPS")
                if answer.status_code != 200:
                    name = PurePosixPath(path).name
                    raise SourceUnavailable(f"{host} answers {answer.status_code} for {name}")
                for piece in answer.iter_bytes():
                    take(piece)
                    if time.monotonic() > deadline:
                        raise SourceUnavailable(f"{host} is too slow")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            # A redirect may lead to another host that cannot be reached.
            why = self._give_up(host, f"no connection to {error.request.url.host}: {error}"[:160])
            raise SourceUnavailable(f"{host} cannot be reached ({why})") from None
        except httpx.TimeoutException:
            why = self._give_up(host, f"no answer within {self._timeouts.read:g} s")
            raise SourceUnavailable(f"{host} gave {why}") from None
        except httpx.HTTPError as error:
            raise SourceUnavailable(f"the download from {host} broke off ({error})") from None


def join_documents(parts: Iterable[bytes]) -> bytes:
    """Join YAML documents to a stream."""
    return b"---\n".join(parts)


def write_pinned(file: ModuleFile, content: bytes, into: Path) -> Path:
    """Write a file if its checksum is the catalogue's."""
    if file.sha256 and hashlib.sha256(content).hexdigest() != file.sha256:
        raise SourceUnavailable(f"{file.output} does not have the content that this version pins")
    target = into / file.output
    target.write_bytes(content)
    target.chmod(0o755 if file.executable else 0o644)
    return target


def _digests(content: str, asset: str) -> list[str]:
    try:
        description = _ReleaseDescription.model_validate_json(content)
    except ValidationError:
        return []
    return [
        item.digest.removeprefix("sha256:")
        for item in description.assets
        if item.name == asset and item.digest
    ]


def _unpack(archive: Path, name: str, members: list[str], into: Path) -> list[Path]:
    try:
        read = _read_zip if name.endswith(".zip") else _read_tar
        contents = read(archive, members)
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise SourceUnavailable(
            f"{PurePosixPath(name).name} cannot be unpacked ({error})"
        ) from None
    files: list[Path] = []
    for member in members:
        if member not in contents:
            raise SourceUnavailable(f"{PurePosixPath(name).name} does not hold {member}")
        target = into / PurePosixPath(member).name
        target.write_bytes(contents[member])
        files.append(target)
    return files


def _read_tar(archive: Path, members: list[str]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    with tarfile.open(archive, "r:gz") as tar:
        for entry in tar:
            if entry.name in members and (stream := tar.extractfile(entry)):
                contents[entry.name] = stream.read()
    return contents


def _read_zip(archive: Path, members: list[str]) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as folder:
        return {name: folder.read(name) for name in members if name in folder.namelist()}
