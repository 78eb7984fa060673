"""The client on real sockets of this machine: TLS, dropped connections, and what the log shows."""

import contextlib
import json
import logging
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection, Deadlines
from coder_stack.coderd.errors import (
    AnswerLost,
    CertificateNotTrusted,
    InvalidConnection,
    Unavailable,
)
from coder_stack.coderd.transport import api_server_transport
from tests.certificates import certificate
from tests.http_server import QuietHandler, serve
from tests.unit.coderd.fakes import PASSWORD, TOKEN, error_of
from tests.unit.coderd.good_answers import BUILD

SHORT = Deadlines(connect=2, read=2, total=2)
Handle = Callable[[QuietHandler], None]


def reply(status: int, body: object, **headers: str) -> Handle:
    sent = {"X-Coder-Build-Version": "v2.30.0", **headers}
    return lambda request: request.reply(status, json.dumps(body).encode(), **sent)


@contextlib.contextmanager
def listening(
    handle: Handle, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Run a server on a free port; yield the port and the headers it has seen."""
    seen: list[dict[str, str]] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            seen.append(dict(self.headers.items()))
            self.read_body()
            handle(self)

        do_POST = do_GET  # noqa: N815  # the base class looks for this name

    with serve(Handler, tls) as port:
        yield port, seen


def server_tls(folder: Path, client_ca: Path | None = None) -> tuple[ssl.SSLContext, Path]:
    cert_file, key_file = certificate(folder, "server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert_file, key_file)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client_ca)
    return context, cert_file


def test_CP8_tls_is_verified_against_the_given_bundle(tmp_path: Path) -> None:
    context, ca = server_tls(tmp_path)
    with listening(reply(200, BUILD), context) as (port, _):
        url = f"https://127.0.0.1:{port}"
        by_path = Connection(base_url=url, ca_bundle=str(ca), deadlines=SHORT)
        by_text = Connection(base_url=url, ca_bundle=ca.read_text(), deadlines=SHORT)

        for connection in (by_path, by_text):
            with Coderd(connection) as client:
                assert client.build_info().version == "v2.30.0+abc1234"


def test_CP8_another_certificate_is_not_trusted(tmp_path: Path) -> None:
    context, _ = server_tls(tmp_path)
    other, _ = certificate(tmp_path, "other")
    with listening(reply(200, BUILD), context) as (port, seen):
        url = f"https://127.0.0.1:{port}"
        for bundle in (str(other), None):
            connection = Connection(base_url=url, token=SecretStr(TOKEN), ca_bundle=bundle)
            with Coderd(connection) as client:
                assert isinstance(error_of(client.user), CertificateNotTrusted)
    assert seen == []


def test_CP8_the_api_server_gets_the_kubeconfigs_credentials(tmp_path: Path) -> None:
    """A client certificate, a fresh bearer token for each request, and coderd's own token."""
    client_cert, client_key = certificate(tmp_path, "client")
    context, ca = server_tls(tmp_path, client_ca=client_cert)
    bearers = iter([SecretStr("first"), SecretStr("second")])
    transport = api_server_transport(
        ca_file=str(ca),
        cert_file=str(client_cert),
        key_file=str(client_key),
        bearer=lambda: next(bearers),
    )
    with listening(reply(200, []), context) as (port, seen):
        connection = Connection(base_url=f"https://127.0.0.1:{port}/x", token=SecretStr(TOKEN))
        with Coderd(connection, transport=transport) as client:
            client.organizations()
            client.organizations()

    assert [headers["Authorization"] for headers in seen] == ["Bearer first", "Bearer second"]
    assert {headers["Coder-Session-Token"] for headers in seen} == {TOKEN}


def test_a_kubeconfig_with_a_broken_client_certificate_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "client.crt"
    broken.write_text("not PEM")

    error = error_of(lambda: api_server_transport(cert_file=str(broken), key_file=str(broken)))

    assert isinstance(error, InvalidConnection)


def hang_up(request: QuietHandler) -> None:
    request.connection.shutdown(socket.SHUT_RDWR)


def half_an_answer(request: QuietHandler) -> None:
    request.send_response(201)
    request.send_header("Content-Length", "1000")
    request.end_headers()
    request.wfile.write(b'{"key": "abc')
    request.close_connection = True


@pytest.mark.parametrize("fault", [hang_up, half_an_answer])
def test_U3_a_post_is_sent_once_over_a_connection_that_breaks(fault: Handle) -> None:
    with listening(fault) as (port, seen):
        connection = Connection(base_url=f"http://127.0.0.1:{port}", token=SecretStr(TOKEN))
        with Coderd(connection) as client:
            error = error_of(lambda: client.create_provisioner_key("dev", "gpu"))

    assert isinstance(error, AnswerLost)
    assert len(seen) == 1


def test_U2_nobody_listening_is_unavailable_and_leaves_no_doubt() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        limits = Deadlines(total=0.3)
        connection = Connection(base_url=url, token=SecretStr(TOKEN), deadlines=limits)
        with Coderd(connection) as client:
            error = error_of(lambda: client.create_provisioner_key("dev", "gpu"))

    assert isinstance(error, Unavailable)
    assert not error.may_have_happened
    assert url in str(error)


def test_this_machine_is_reached_without_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Plain http to loopback is safe only as long as it really stays on loopback."""
    with (
        listening(reply(200, BUILD)) as (port, seen),
        listening(reply(500, {})) as (proxy, proxied),
    ):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        with Coderd(Connection(base_url=f"http://127.0.0.1:{port}")) as client:
            client.build_info()

    assert (len(seen), len(proxied)) == (1, 0)


def test_L9_no_secret_is_in_the_debug_log(caplog: pytest.LogCaptureFixture) -> None:
    """The library logs response headers, and a login sets the session as a cookie."""
    caplog.set_level(logging.DEBUG)
    session = "sessionses-SECRETsession"
    cookie = f"coder_session_token={session}; Path=/; HttpOnly"
    handle = reply(201, {"session_token": session}, Set_Cookie=cookie)
    with listening(handle) as (port, _):
        connection = Connection(base_url=f"http://127.0.0.1:{port}", token=SecretStr(TOKEN))
        with Coderd(connection) as client:
            client.login(email="a@b.test", password=SecretStr(PASSWORD))
            error_of(client.licenses)

    assert "httpcore" in {record.name.partition(".")[0] for record in caplog.records}
    for secret in (session, PASSWORD, TOKEN):
        assert secret not in caplog.text
