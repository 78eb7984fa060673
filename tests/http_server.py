"""Servers on 127.0.0.1 that answer a test from a thread of its own process."""

import http.server
import socketserver
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class QuietHandler(http.server.BaseHTTPRequestHandler):
    """Base of the handlers of test servers."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base's name
        """Log nothing: a path may hold a key."""

    def read_body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        """Send a whole answer; `Content_Type="…"` becomes the header Content-Type."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report errors, but not clients that hang up: tests kill them, or let them distrust."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


@contextmanager
def serve(
    handler: type[socketserver.BaseRequestHandler], tls: ssl.SSLContext | None = None
) -> Iterator[int]:
    """Listen on a free port until the block ends, and yield the port."""
    with _Server(("127.0.0.1", 0), handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
