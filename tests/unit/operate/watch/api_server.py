"""As much of an API server as a watch and a Lease need, on 127.0.0.1."""

import json
import queue
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from coder_stack.cluster.kubeconfig import Kubeconfig
from tests.http_server import QuietHandler, serve
from tests.provider.api_server import write_kubeconfig


@dataclass
class Answers:
    """What the server has, what it was asked, and what it streams."""

    cluster: Kubeconfig = field(default_factory=Kubeconfig)
    objects: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """By name, with metadata alone."""
    leases: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    events: "queue.Queue[dict[str, Any] | None]" = field(default_factory=queue.Queue)
    """What a watch streams next; None ends it."""
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Kind of request (list, watch, GET, PATCH, DELETE) and resourceVersion or path."""
    accepted: set[str] = field(default_factory=set[str])
    refuse: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """Statuses that the next lists or watches get instead."""
    brief: list[dict[str, Any]] | None = None
    """All that a watch streams before it ends at once; None: it streams `events`."""
    version: int = 10

    def put(self, name: str, **metadata: Any) -> None:
        """Create or change an object, and stream it."""
        kind = "MODIFIED" if name in self.objects else "ADDED"
        self.objects[name] = self._metadata(name, **metadata)
        self.events.put({"type": kind, "object": {"metadata": self.objects[name]}})

    def delete(self, name: str) -> None:
        """Delete an object, and stream that."""
        metadata = {**self.objects.pop(name), "resourceVersion": self._next()}
        self.events.put({"type": "DELETED", "object": {"metadata": metadata}})

    def error(self, code: int) -> None:
        """Stream an error, as for a resourceVersion that is too old."""
        self.events.put({"type": "ERROR", "object": {"kind": "Status", "code": code}})

    def cut(self) -> None:
        """End the stream."""
        self.events.put(None)

    def of(self, kind: str) -> list[str]:
        """Return what was asked in this way."""
        return [what for word, what in self.asked if word == kind]

    def _metadata(self, name: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "uid": f"uid-{name}", "resourceVersion": self._next(), **more}

    def _next(self) -> str:
        self.version += 1
        return str(self.version)


@contextmanager
def api_server(folder: Path) -> Iterator[Answers]:
    """Run it until the block ends."""
    found = Answers()

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            query = {key: value[0] for key, value in parse_qs(urlsplit(self.path).query).items()}
            path = urlsplit(self.path).path
            found.accepted.add(self.headers["Accept"])
            if "/leases/" in path:
                found.asked.append(("GET", path))
                self._lease(path.rpartition("/")[2])
            elif "watch" in query:
                found.asked.append(("watch", query["resourceVersion"]))
                if not self._refused("watch"):
                    self._stream()
            else:
                found.asked.append(("list", query.get("labelSelector", "")))
                if not self._refused("list"):
                    self._list()

        def do_PATCH(self) -> None:
            content = json.loads(self.read_body())
            found.asked.append(("PATCH", self.path.partition("?")[0]))
            name, metadata = content["metadata"]["name"], content["metadata"]
            known = found.leases.get(name)
            given = metadata.get("resourceVersion")
            if given and (known is None or known["metadata"]["resourceVersion"] != given):
                self._json(409, {"kind": "Status", "reason": "Conflict"})
                return
            found.version += 1
            found.leases[name] = {
                **content,
                "metadata": {**metadata, "resourceVersion": str(found.version)},
            }
            self._lease(name)

        def do_DELETE(self) -> None:
            found.asked.append(("DELETE", self.path))
            found.leases.pop(self.path.rpartition("/")[2], None)
            self._json(200, {"kind": "Status"})

        def _lease(self, name: str) -> None:
            lease = found.leases.get(name)
            self._json(200 if lease else 404, lease or {"kind": "Status", "reason": "NotFound"})

        def _refused(self, kind: str) -> bool:
            statuses = found.refuse.get(kind)
            if not statuses:
                return False
            self._json(statuses.pop(0), {"kind": "Status"})
            return True

        def _json(self, status: int, content: Any) -> None:
            self.reply(status, json.dumps(content).encode(), Content_Type="application/json")

        def _list(self) -> None:
            # As the real one does, it sends null for a selection without objects.
            items = [{"metadata": each} for each in found.objects.values()] or None
            self._json(200, {"metadata": {"resourceVersion": str(found.version)}, "items": items})

        def _stream(self) -> None:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for event in iter(found.events.get, None) if found.brief is None else found.brief:
                line = json.dumps(event).encode() + b"\n"
                self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
                self.wfile.flush()
                if event["type"] == "ERROR":  # always the last one
                    break
            self.wfile.write(b"0\r\n\r\n")

    with serve(Handler) as port:
        file = write_kubeconfig(folder, f"http://127.0.0.1:{port}")
        found.cluster = Kubeconfig(kubeconfig=file)
        try:
            yield found
        finally:
            found.cut()
