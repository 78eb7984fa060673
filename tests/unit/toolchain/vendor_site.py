"""A vendor's download site on 127.0.0.1: it serves files, and misbehaves on request."""

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.http_server import QuietHandler, serve

SCRIPT = b"#!/bin/sh\necho 'the real thing'\n"


@dataclass
class Site:
    """What is served where. `held` paths send half of the file, then wait for `release()`."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    truncated: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    half_sent: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    def release(self) -> None:
        self.go_on.set()


@contextmanager
def serving() -> Generator[Site]:
    """Run a site for the length of a block."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            if self.path in site.silent:
                site.go_on.wait()
                return
            if self.path in site.redirects:
                self.send_response(302)
                self.send_header("Location", site.redirects[self.path])
                self.end_headers()
                return
            content = site.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            half = len(content) // 2
            self.wfile.write(content[:half])
            if self.path in site.truncated:
                return
            if self.path in site.held:
                self.wfile.flush()
                site.half_sent.set()
                site.go_on.wait()
            try:
                self.wfile.write(content[half:])
            except OSError:
                return  # the client was killed meanwhile

    with serve(Handler) as port:
        site = Site(url=f"http://127.0.0.1:{port}")
        try:
            yield site
        finally:
            site.release()


def tar_gz(members: dict[str, bytes]) -> bytes:
    """An archive as vendors pack them, with a file around that nobody asked for."""
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:gz") as tar:
        for name, content in {"README.md": b"hello", **members}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return sink.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    """The same as a zip file."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as folder:
        for name, content in {"README.md": b"hello", **members}.items():
            folder.writestr(name, content)
    return sink.getvalue()


def sums(**contents: bytes) -> bytes:
    """A checksum file that names several assets."""
    lines = [f"{sha256(content)}  {name}" for name, content in contents.items()]
    return "\n".join([f"{'0' * 64}  something-else.tar.gz", *lines, ""]).encode()


def github_record(**contents: bytes) -> bytes:
    """GitHub's description of a release, with the digest of each asset."""
    assets = [{"name": n, "digest": f"sha256:{sha256(c)}", "size": 1} for n, c in contents.items()]
    return json.dumps(
        {"tag_name": "v0", "assets": [{"name": "x", "digest": None}, *assets]}
    ).encode()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
