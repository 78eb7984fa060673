"""A forward proxy on 127.0.0.1 that knows one server, under whatever name it is asked for."""

import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


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
    """Leads to that port of this machine, until the block ends; `tls`: and speaks https itself."""
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

    class Server(socketserver.ThreadingTCPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hangs up half-way."""

    with Server(("127.0.0.1", 0), Handler) as listening:
        proxy.address = f"127.0.0.1:{listening.server_address[1]}"
        if tls is not None:
            listening.socket = tls.wrap_socket(
                listening.socket, server_side=True, do_handshake_on_connect=False
            )
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield proxy
        finally:
            listening.shutdown()
            thread.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Until one side hangs up, which the other then learns."""
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return
