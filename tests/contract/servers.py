"""The servers that the contract is tried on: simulated and unmodified real ones, both editions.

Each starts empty and goes through the same bootstrap over HTTP. What only an empty server shows is
asked then and kept, so that no test depends on coming first.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection
from sandbox.coderd import server as simulation
from sandbox.coderd.rules import versions
from sandbox.coderd.rules.state import ServerFlags
from tests.contract.postgres import Postgres
from tests.ending import end_with_this_run

OWNER = {"email": "owner@example.com", "username": "owner", "password": "Contract-Owner-1!"}
MEMBER = {"email": "member@example.com", "username": "member", "password": "Contract-Member-1!"}
SIMULATED, REAL = "simulated", "real"
BIN_DIR_VARIABLE = "CODER_STACK_CODER_BIN_DIR"
# Never used, but dear: made once instead of for every client.
TLS = httpx.create_ssl_context()
# Asked before anybody exists: name → method and body of /users/first.
BEFORE_FIRST_USER: dict[str, tuple[str, str]] = {
    "is there one": ("GET", ""),
    "empty body": ("POST", ""),
    "cut off": ("POST", '{"email":'),
    "not an object": ("POST", "[]"),
    "wrong type": ("POST", '{"email": 3}'),
    "nothing given": ("POST", "{}"),
    "bad values": ("POST", '{"email":"x@host","username":"a b","password":"p","name":" x"}'),
    "weak password": ("POST", json.dumps(OWNER | {"password": "weakling"})),
    "long password": ("POST", json.dumps(OWNER | {"password": "Aa1!-" * 13})),
}


def cookieless() -> httpx.Client:
    """A client that keeps no cookies: with the login's cookie it would be somebody else."""
    nobody = DefaultCookiePolicy(allowed_domains=[])
    return httpx.Client(cookies=CookieJar(policy=nobody), timeout=30, verify=TLS)


@dataclass
class Server:
    """A bootstrapped server and ways to talk to it. No cookies are kept."""

    name: str
    url: str
    simulated: bool
    version: str = ""
    organization_id: str = ""
    owner_token: str = ""
    member_token: str = ""
    before: dict[str, httpx.Response] = field(default_factory=dict[str, httpx.Response])
    created: httpx.Response | None = None
    database: tuple[Postgres, str] | None = None
    program: Path | None = None
    client: httpx.Client = field(default_factory=cookieless)

    def call(
        self, method: str, path: str, token: str | None = None, **options: Any
    ) -> httpx.Response:
        """One request."""
        headers = dict(options.pop("headers", {}))
        if token is not None:
            headers["Coder-Session-Token"] = token
        url = path if path.startswith("http") else f"{self.url}{path}"
        return self.client.request(method, url, headers=headers, **options)

    def api(
        self, method: str, path: str, token: str | None = None, **options: Any
    ) -> httpx.Response:
        """One request under /api/v2."""
        return self.call(method, f"/api/v2{path}", token, **options)

    def owner(self, method: str, path: str, **options: Any) -> httpx.Response:
        """As the owner."""
        return self.api(method, path, self.owner_token, **options)

    def member(self, method: str, path: str, **options: Any) -> httpx.Response:
        """As an ordinary member of the default organization."""
        return self.api(method, path, self.member_token, **options)

    def has(self, change: versions.Change) -> bool:
        """Whether its version has a change that the contract knows."""
        return versions.has(self.version, change)

    def typed_client(self) -> Coderd:
        """The program's own client, as the owner."""
        return Coderd(Connection(base_url=self.url, token=SecretStr(self.owner_token)))

    def new_token(self, **options: Any) -> tuple[str, str]:
        """An API token of the member: id and text."""
        answer = self.member("POST", "/users/me/keys/tokens", json=options)
        assert answer.status_code == 201, answer.text
        text = answer.json()["key"]
        return text.split("-")[0], text

    @contextlib.contextmanager
    def later(self, key_id: str, seconds: int) -> Iterator[None]:
        """Let an API key be that much older: by the clock, or by its row in the database."""
        if self.simulated:
            self.call("POST", "/_sim/clock", json={"advance_seconds": seconds})
            try:
                yield
            finally:
                self.call("POST", "/_sim/clock", json={"reset": True})
            return
        assert self.database
        postgres, name = self.database
        change = f"expires_at = expires_at - interval '{seconds} seconds'"
        postgres.execute(name, f"UPDATE api_keys SET {change} WHERE id = '{key_id}'")  # noqa: S608
        yield


@contextlib.contextmanager
def simulated(*options: str, name: str = SIMULATED) -> Iterator[Server]:
    """The simulated coderd as its own process, started the way a user starts it."""
    command = [sys.executable, "-m", "coder_stack.cli", "sandbox", "coderd", "--port", "0"]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    end_with_this_run(process.pid)
    try:
        assert process.stdout
        hello = json.loads(process.stdout.readline())
        server = Server(name, hello["url"], simulated=True)
        with server.client:
            yield _bootstrapped(server)
    finally:
        process.terminate()
        process.wait(timeout=30)
        if process.stdout:
            process.stdout.close()


@contextlib.contextmanager
def licensed(**settings: Any) -> Iterator[Server]:
    """A licensed simulation in this process, so quick that every test can have its own."""
    with simulation.serving(simulation.Options(flags=ServerFlags(**settings))) as hello:
        server = Server("licensed simulation", hello.url, simulated=True)
        server.owner_token = hello.token or ""
        with server.client:
            added = server.call("POST", "/_sim/users", json={"username": "member"}).json()
            server.member_token = added["token"]
            server.organization_id = server.owner("GET", "/organizations/default").json()["id"]
            server.version = server.api("GET", "/buildinfo").json()["version"]
            yield server


@contextlib.contextmanager
def real(edition: str, postgres: Postgres, home: Path, name: str = REAL) -> Iterator[Server]:
    """An unmodified coder server on a database of its own."""
    program = coder_program("coder" if edition == "enterprise" else "coder-agpl")
    home.mkdir()
    database = f"contract_{edition}"
    connection = postgres.create_database(database)
    for attempt in range(5):
        url = f"http://127.0.0.1:{_free_port()}"
        environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "CODER_HTTP_ADDRESS": url.removeprefix("http://"),
            "CODER_ACCESS_URL": url,
            "CODER_PG_CONNECTION_URL": connection,
            "CODER_TELEMETRY_ENABLE": "false",
            "CODER_PROVISIONER_DAEMONS": "0",
            "CODER_CACHE_DIRECTORY": str(home / "cache"),
            "CODER_CONFIG_DIR": str(home / "config"),
            "CODER_UPDATE_CHECK": "false",
            "CODER_DERP_SERVER_STUN_ADDRESSES": "disable",
            "CODER_OAUTH2_GITHUB_DEFAULT_PROVIDER_ENABLE": "false",
        }
        log = home / f"server-{attempt}.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [program, "server"], env=environment, cwd=home, stdout=stream, stderr=stream
            )
        end_with_this_run(process.pid)
        try:
            if not _await_healthy(url, process):
                # Somebody else took the port in between, or it failed for good; the log tells.
                continue
            server = Server(
                name, url, simulated=False, database=(postgres, database), program=program
            )
            with server.client:
                yield _bootstrapped(server)
            return
        finally:
            process.terminate()
            process.wait(timeout=60)
    raise AssertionError(f"{program.name} server did not start:\n{log.read_text()[-2000:]}")


def coder_program(tool: str) -> Path:
    """The real program, built by the toolchain."""
    if folder := os.environ.get(BIN_DIR_VARIABLE):
        return Path(folder) / tool
    from sandbox.toolchain import ensure  # noqa: PLC0415

    return Path(ensure([tool])[tool].path)


def _bootstrapped(server: Server) -> Server:
    """Ask what only an empty server answers, then create owner and member."""
    for name, (method, body) in BEFORE_FIRST_USER.items():
        server.before[name] = server.api(method, "/users/first", content=body)
    server.created = server.api("POST", "/users/first", json=OWNER)
    assert server.created.status_code == 201, server.created.text
    server.organization_id = server.created.json()["organization_id"]
    server.owner_token = _log_in(server, OWNER)
    added = server.owner(
        "POST", "/users", json=MEMBER | {"organization_ids": [server.organization_id]}
    )
    assert added.status_code == 201, added.text
    server.member_token = _log_in(server, MEMBER)
    server.version = server.api("GET", "/buildinfo").json()["version"]
    return server


def _log_in(server: Server, who: dict[str, str]) -> str:
    answer = server.api("POST", "/users/login", json={k: who[k] for k in ("email", "password")})
    assert answer.status_code == 201, answer.text
    return answer.json()["session_token"]


def _await_healthy(url: str, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/healthz", timeout=5).text == "OK":
                return True
        time.sleep(0.1)
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
