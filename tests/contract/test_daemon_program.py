"""The real provisioner daemon, started with the environment that our Deployment sets."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]


@dataclass
class Listener:
    """Stands between daemon and server, hands everything on and remembers what was said."""

    url: str
    heard: list[tuple[str, int, str]]


@contextlib.contextmanager
def listening(server: Server) -> Iterator[Listener]:
    heard: list[tuple[str, int, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = server.client.get(f"{server.url}{self.path}", headers=dict(self.headers))
            heard.append((self.path.split("/")[3], answer.status_code, answer.text))
            self.send_response(answer.status_code)
            self.send_header("Content-Type", answer.headers["content-type"])
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Quiet: the path of the key request holds the key."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as middle:
        thread = threading.Thread(target=middle.serve_forever)
        thread.start()
        try:
            yield Listener(f"http://127.0.0.1:{middle.server_port}", heard)
        finally:
            middle.shutdown()
            thread.join()


def start_daemon(
    server: Server, url: str, home: Path, **more: str
) -> subprocess.CompletedProcess[str]:
    assert server.program
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "CODER_URL": url,
        "CODER_PROVISIONER_DAEMON_KEY": "k" * 43,
        "CODER_PROVISIONER_DAEMON_NAME": "provisioner-0",
        "CODER_CACHE_DIRECTORY": str(home / "cache"),
    }
    return subprocess.run(
        [server.program, "provisionerd", "start"],
        env=environment | more,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_p1_the_daemon_gets_as_far_as_the_servers_check_of_its_key(
    real_enterprise: Server, tmp_path: Path
) -> None:
    with listening(real_enterprise) as between:
        done = start_daemon(real_enterprise, between.url, tmp_path)
    assert done.returncode == 1
    assert "unable to get provisioner key details" in done.stderr
    refused = '{"message":"provisioner daemon key invalid"}\n'
    assert ("provisionerkeys", 401, refused) in between.heard


def test_p1_the_daemon_refuses_an_organization_beside_a_key_by_itself(
    real_enterprise: Server, tmp_path: Path
) -> None:
    """Why the Deployment never sets CODER_ORGANIZATION."""
    with listening(real_enterprise) as between:
        done = start_daemon(real_enterprise, between.url, tmp_path, CODER_ORGANIZATION="coder")
    assert done.returncode == 1
    assert "cannot provide --org value with --psk or --key flags" in done.stderr
    assert "provisionerkeys" not in {path for path, _, _ in between.heard}


def test_p1_the_daemon_refuses_tags_beside_a_key_by_itself(
    real_enterprise: Server, tmp_path: Path
) -> None:
    with listening(real_enterprise) as between:
        done = start_daemon(real_enterprise, between.url, tmp_path, CODER_PROVISIONERD_TAGS="a=b")
    assert done.returncode == 1
    assert "cannot provide tags when using provisioner key" in done.stderr
    assert "provisionerkeys" not in {path for path, _, _ in between.heard}
