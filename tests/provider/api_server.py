"""As much of a Kubernetes API server as reading and writing a Secret needs, on 127.0.0.1."""

import atexit
import base64
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.http_server import QuietHandler, serve
from tests.reports import RUN_FOLDER


@dataclass
class ApiServer:
    """`secrets` is what it has, by `namespace/name`; `trouble` is what it answers instead."""

    url: str
    folder: Path
    secrets: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    trouble: tuple[int, bytes] | None = None
    reads_in_trouble: bool = False
    """Whether GETs are answered all the same."""
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Method and path."""
    annotations: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def text(self, where: str, key: str) -> str | None:
        """What a Secret holds; None if it is not there."""
        value = self.secrets.get(where, {}).get(key)
        return None if value is None else value.decode()

    def put(self, where: str, **data: str | bytes) -> None:
        self.secrets[where] = {
            key: value if isinstance(value, bytes) else value.encode()
            for key, value in data.items()
        }

    def refuse(self, status: int, reason: str) -> None:
        self.trouble = (status, _status(status, reason))

    @property
    def kubeconfig(self) -> str:
        return write_kubeconfig(self.folder, self.url)

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        if self.trouble is not None and (method != "GET" or not self.reads_in_trouble):
            return self.trouble
        _, _, _, _, namespace, kind, name = path.partition("?")[0].split("/")
        where = f"{namespace}/{name}"
        if method == "PATCH":
            self._apply(where, json.loads(body))
        found = self.secrets.get(where)
        if kind != "secrets" or found is None:
            return 404, _status(404, "NotFound", kind=kind, name=name)
        if method == "DELETE":
            del self.secrets[where]
        data = {key: base64.b64encode(value).decode() for key, value in found.items()}
        notes = self.annotations.get(where, {})
        metadata = {"namespace": namespace, "name": name, "annotations": notes}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
        return 200, json.dumps(secret).encode()

    def _apply(self, where: str, content: Mapping[str, Any]) -> None:
        self.annotations[where] = content["metadata"]["annotations"]
        data = {key: base64.b64decode(value) for key, value in content["data"].items()}
        self.secrets[where] = data


def write_kubeconfig(folder: Path, server: str, **cluster: Any) -> str:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": {"token": "hush-hush"}}],
    }
    path = folder / "kubeconfig"
    # At once: others may read it while it is written anew.
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as written:
        written.write(yaml.safe_dump(content))
    Path(written.name).rename(path)
    return str(path)


@contextmanager
def api_server(folder: Path) -> Iterator[ApiServer]:
    """Serve until the block ends."""
    server = ApiServer("", folder)

    class Handler(QuietHandler):
        def answer(self) -> None:
            server.asked.append((self.command, self.path))
            status, body = server.answer(self.command, self.path, self.read_body())
            self.reply(status, body, Content_Type="application/json")

        do_GET = do_PATCH = do_DELETE = answer  # noqa: N815  # the base's names

    with serve(Handler) as port:
        server.url = f"http://127.0.0.1:{port}"
        yield server


@cache
def shared_api_server() -> ApiServer:
    """Return one that serves until the test process ends."""
    keep = ExitStack()
    atexit.register(keep.close)
    # Below the folder of the run, which is removed at its end: workers run no exit handlers.
    folder = tempfile.mkdtemp(prefix="api-server-", dir=os.environ[RUN_FOLDER])
    return keep.enter_context(api_server(Path(folder)))


def _status(code: int, reason: str, **details: str) -> bytes:
    status: Mapping[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "details": details,
        "code": code,
    }
    return json.dumps(status).encode()
