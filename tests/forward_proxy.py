"""A forward proxy on 127.0.0.1 that knows one server, under whatever name it is asked for."""

import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.http_server import serve


@dataclass
class ForwardProxy:
    """`asked` is what clients wanted to be connected to; `logins` what they showed for it."""

    address: str
    asked: list[str] = field(default_factory=list[str])
    logins: list[str] = field(default_factory=list[str])
    refusal: str = ""
    """A status line to answer with, in place of a connection."""

    @property
    def url(self) -> str:
        return f"http://{self.address}"


@contextmanager
def forward_proxy(port: int, tls: ssl.SSLContext | None = None) -> Iterator[ForwardProxy]:
    """Connect clients to that port of this machine; with `tls`, speak https to them."""
    proxy = ForwardProxy("")

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            _, target, _ = self.rfile.readline().decode().split()
            while line := self.rfile.readline().decode().strip():
                name, _, value = line.partition(": ")
                if name.lower() == "proxy-authorization":
                    proxy.logins.append(value)
            proxy.asked.append(target)
            if proxy.refusal:
                self.wfile.write(f"HTTP/1.1 {proxy.refusal}\r\nContent-Length: 0\r\n\r\n".encode())
                return
            with socket.create_connection(("127.0.0.1", port)) as server:
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_copy, args=(server, self.connection))
                back.start()
                _copy(self.connection, server)
                back.join()

    with serve(Handler, tls) as own_port:
        proxy.address = f"127.0.0.1:{own_port}"
        yield proxy


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy until the source hangs up, then hang up on the target."""
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return
