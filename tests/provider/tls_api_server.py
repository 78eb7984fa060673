"""An API server behind TLS: one Secret, and coderd behind its service proxy, on 127.0.0.1."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.certificates import certificate
from tests.http_server import QuietHandler, serve
from tests.provider.api_server import ApiServer

PROXIED = "/api/v1/namespaces/coder/services/http:coder:80/proxy"


@dataclass
class TlsApiServer:
    """Its certificate is for one name only; `names` are those that clients asked for (SNI)."""

    port: int
    ca: Path
    api: ApiServer
    coderd_url: str
    names: list[str | None] = field(default_factory=list[str | None])
    asked: list[str] = field(default_factory=list[str])

    def answer(self, path: str, headers: dict[str, str]) -> tuple[int, bytes, dict[str, str]]:
        if not path.startswith(PROXIED):
            return *self.api.answer("GET", path, b""), {}
        passed_on = {k: v for k, v in headers.items() if k.lower().startswith("coder-")}
        url = self.coderd_url + path.removeprefix(PROXIED)
        got = httpx.get(url, headers=passed_on, trust_env=False)
        return got.status_code, got.content, {"X-Coder-Build-Version": "v2.30.0+simulated"}


@contextmanager
def tls_api_server(folder: Path, host: str, coderd_url: str = "") -> Iterator[TlsApiServer]:
    """Serve until the block ends, with a certificate for `host`."""
    cert_file, key_file = certificate(folder, "api-server", host)
    server = TlsApiServer(0, cert_file, ApiServer("", folder), coderd_url)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(cert_file, key_file)

    def remember(_socket: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
        server.names.append(name)

    tls.sni_callback = remember

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            server.asked.append(self.path)
            status, body, headers = server.answer(self.path, dict(self.headers.items()))
            self.reply(status, body, **headers)

    with serve(Handler, tls) as server.port:
        yield server
