"""The real provisioner daemon, started with the environment that our Deployment sets."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.servers import Server
from tests.http_server import QuietHandler, serve

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]


@dataclass
class Listener:
    """Stands between daemon and server, hands everything on and remembers what was said."""

    url: str
    heard: list[tuple[str, int, str]]


@contextlib.contextmanager
def listening(server: Server) -> Iterator[Listener]:
    heard: list[tuple[str, int, str]] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            answer = server.client.get(f"{server.url}{self.path}", headers=dict(self.headers))
            heard.append((self.path.split("/")[3], answer.status_code, answer.text))
            kind = answer.headers["content-type"]
            self.reply(answer.status_code, answer.content, Content_Type=kind)

    with serve(Handler) as port:
        yield Listener(f"http://127.0.0.1:{port}", heard)


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


@pytest.mark.parametrize(
    ("variable", "value", "refusal"),
    [
        ("CODER_ORGANIZATION", "coder", "cannot provide --org value with --psk or --key flags"),
        ("CODER_PROVISIONERD_TAGS", "a=b", "cannot provide tags when using provisioner key"),
    ],
    ids=["organization", "tags"],
)
def test_p1_the_daemon_itself_refuses_an_organization_or_tags_beside_a_key(
    real_enterprise: Server, tmp_path: Path, variable: str, value: str, refusal: str
) -> None:
    """Why the Deployment never sets these variables."""
    with listening(real_enterprise) as between:
        done = start_daemon(real_enterprise, between.url, tmp_path, **{variable: value})
    assert done.returncode == 1
    assert refusal in done.stderr
    assert "provisionerkeys" not in {path for path, _, _ in between.heard}
