"""As much of a Kubernetes API server as one GET of a Secret needs, on 127.0.0.1."""

import base64
import http.server
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml


@dataclass
class ApiServer:
    """`secrets` is what it has, by `namespace/name`; `trouble` is what it answers instead."""

    url: str
    folder: Path
    secrets: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    trouble: tuple[int, bytes] | None = None
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Method and path."""

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

    def answer(self, path: str) -> tuple[int, bytes]:
        if self.trouble is not None:
            return self.trouble
        _, _, _, _, namespace, kind, name = path.split("/")
        found = self.secrets.get(f"{namespace}/{name}")
        if kind != "secrets" or found is None:
            return 404, _status(404, "NotFound", kind=kind, name=name)
        data = {key: base64.b64encode(value).decode() for key, value in found.items()}
        metadata = {"namespace": namespace, "name": name}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
        return 200, json.dumps(secret).encode()


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
    path.write_text(yaml.safe_dump(content))
    return str(path)


@contextmanager
def api_server(folder: Path) -> Iterator[ApiServer]:
    """Runs until the block ends."""
    server = ApiServer("", folder)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append((self.command, self.path))
            status, body = server.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base's name
            """Quiet."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


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
