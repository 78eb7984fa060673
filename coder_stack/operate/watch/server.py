"""`/healthz`, `/readyz` and `/metrics` of a watcher, for a probe and for Prometheus (N3)."""

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from prometheus_client import CONTENT_TYPE_LATEST

from coder_stack.operate.engine.errors import OperationError

_PLAIN = "text/plain; charset=utf-8"


class Served(Protocol):
    """What the pages show; asked from other threads."""

    @property
    def why_not_healthy(self) -> str:
        """Say why the process should be started again; empty if it should not."""
        ...

    @property
    def why_not_ready(self) -> str:
        """Say why nothing can be noticed yet; empty if it can."""
        ...

    def metrics_text(self) -> bytes:
        """Return all metrics."""
        ...


def address_of(listen: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`; raise OperationError for anything else."""
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise OperationError(f"--listen is `{listen}`; it must be HOST:PORT, e.g. 127.0.0.1:9187.")
    return host.strip("[]"), int(port)


def serve(listen: str, served: Served) -> int:
    """Answer in threads that do not keep the process alive; return the port."""
    host, port = address_of(listen)
    try:
        server = _server_class(host)((host, port), _handler(served))
    except OSError as error:
        raise OperationError(f"Cannot listen on {listen}: {error.strerror or error}.") from None
    threading.Thread(target=server.serve_forever, name="pages", daemon=True).start()
    return int(server.server_address[1])


def _server_class(host: str) -> type[ThreadingHTTPServer]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return type(
        "Server", (ThreadingHTTPServer,), {"address_family": family, "daemon_threads": True}
    )


def _handler(served: Served) -> type[BaseHTTPRequestHandler]:
    pages: dict[str, Callable[[], tuple[str, bytes, str]]] = {
        "/healthz": lambda: (served.why_not_healthy, b"ok\n", _PLAIN),
        "/readyz": lambda: (served.why_not_ready, b"ok\n", _PLAIN),
        "/metrics": lambda: ("", served.metrics_text(), CONTENT_TYPE_LATEST),
    }

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            page = pages.get(self.path.partition("?")[0])
            if page is None:
                self._answer(404, b"There are /healthz, /readyz and /metrics.\n", _PLAIN)
                return
            why_not, body, kind = page()
            if why_not:
                self._answer(503, f"{why_not}\n".encode(), _PLAIN)
            else:
                self._answer(200, body, kind)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base's name
            """Log no requests."""

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
