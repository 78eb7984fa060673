"""A simulated coderd on 127.0.0.1, in the test's own process and with its state at hand."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
import uvicorn

from sandbox.coderd import server
from sandbox.coderd.application import Application
from sandbox.coderd.request_log import Entry
from sandbox.coderd.routes.auth import KEY_HEADER, PROXY_HEADER
from sandbox.coderd.rules import proxies
from sandbox.coderd.rules.identifiers import hashed
from sandbox.coderd.rules.license_key import LicenseTerms, issue
from sandbox.coderd.rules.records import Records
from sandbox.coderd.rules.state import CoderdState, ServerFlags, new_state

OWNER_TOKEN = "simulation-ofTheFirstOwnerForTest"
"""The same in every simulation, so that one process can talk to several with one config."""
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of a plain http:// URL: else each reads the system's certificates, 17 ms."""


@dataclass(frozen=True)
class Simulation:
    """`token` is an owner's, OWNER_TOKEN, or "" if nobody was created yet."""

    url: str
    token: str = field(repr=False)
    application: Application

    @property
    def state(self) -> CoderdState:
        return self.application.state

    @property
    def connection(self) -> dict[str, Any]:
        """The input of that name."""
        return {"url": self.url}

    @property
    def config(self) -> dict[str, str]:
        """The stack's config."""
        return {"token": self.token}

    def act(self, method: str, path: str, body: object = None, *, token: str = "") -> Any:
        """Send a request as another user would, without Pulumi."""
        with httpx.Client(base_url=self.url, trust_env=False, verify=NO_TLS) as http:
            headers = {"Coder-Session-Token": token or self.token}
            answer = http.request(method, path, json=body, headers=headers)
            answer.raise_for_status()
            return answer.json() if answer.content else None

    def key_of(self, material: str) -> str | None:
        """Return the name of the provisioner key that coderd knows this material by."""
        answer = self._get("/api/v2/provisionerkeys/self", KEY_HEADER, material)
        return answer.json()["name"] if answer.is_success else None

    def accepts_proxy(self, token: str) -> bool:
        """Return whether a workspace proxy could run with this token."""
        path = "/api/v2/workspaceproxies/me/crypto-keys?feature=workspace_apps_token"
        return self._get(path, PROXY_HEADER, token).is_success

    def proxy_health(self, name: str) -> str:
        (row,) = (each for each in self.state.records.proxies.values() if each.name == name)
        return proxies.health(self.state, row).status

    def _get(self, path: str, header: str, credential: str) -> httpx.Response:
        headers = {header: credential}
        return httpx.get(f"{self.url}{path}", headers=headers, trust_env=False, verify=NO_TLS)

    def fault(self, kind: str, path: str = "*", **more: Any) -> None:
        """Let the next matching requests fail; with `count=-1`, all of them."""
        self.application.faults.add({"kind": kind, "path": path, **more})

    def refuse(self, status: int, message: str, path: str = "*", **more: Any) -> None:
        """Let coderd itself refuse the next matching requests, not a proxy before it."""
        headers = {"X-Coder-Build-Version": "v2.30.0+simulated"}
        self.fault(
            "status", path, status=status, body={"message": message}, headers=headers, **more
        )

    def peace(self) -> None:
        self.application.faults.clear()

    def requests(self, method: str = "", path: str = "") -> list[str]:
        """Return the requests as `GET /api/v2/…`, newest last."""
        return [
            f"{entry['method']} {entry['path']}"
            for entry in self.application.log.to_json()
            if method in ("", entry["method"]) and path in str(entry["path"])
        ]

    @contextmanager
    def once_asked(self, path: str, act: Callable[[], object]) -> Iterator[None]:
        """Run `act` in a thread after the first request whose path ends so."""
        asked, usual = threading.Event(), self.application.log.add

        def add(entry: Entry) -> None:
            usual(entry)
            if entry.path.endswith(path):
                asked.set()

        self.application.log.add = add  # type: ignore[method-assign]
        somebody = threading.Thread(target=lambda: asked.wait(30) and act())
        somebody.start()
        try:
            yield
        finally:
            asked.set()
            somebody.join()
            self.application.log.add = usual  # type: ignore[method-assign]

    def forget_requests(self) -> None:
        self.application.log.clear()

    def license_ids(self) -> list[int]:
        return sorted(self.state.records.licenses)

    def lose_licenses(self) -> None:
        """Delete all licenses, as an administrator would."""
        for license_id in self.license_ids():
            self.act("DELETE", f"/api/v2/licenses/{license_id}")

    def backup(self) -> Records:
        """Return a copy of the database."""
        return deepcopy(self.state.records)

    def restore(self, backup: Records) -> None:
        """Replace the database by a copy."""
        self.state.records = backup
        self.state.refresh_entitlements()

    def start_anew(self) -> None:
        """Empty the database: another deployment at the same address."""
        self.restore(new_state(self.state.clock, self.state.flags).records)


def license_text(**terms: Any) -> str:
    """Issue a license that the simulation accepts; the terms are those of LicenseTerms."""
    return issue(LicenseTerms(**terms), datetime.now(UTC))


@contextmanager
def simulated(
    *, agpl: bool = False, licensed: bool = False, fresh: bool = False, token: str = OWNER_TOKEN
) -> Iterator[Simulation]:
    """Run a simulated coderd until the block ends."""
    settings = ServerFlags(enterprise=not agpl, api_rate_limit=-1, login_rate_limit=-1)
    options = server.Options(flags=settings, licensed=licensed, fresh=fresh)
    state, made = server.prepare(options)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        state.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        application = Application(state)
        config = uvicorn.Config(
            application, log_level="error", access_log=False, lifespan="off", ws="none",
            server_header=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        running = uvicorn.Server(config)
        thread = threading.Thread(
            target=lambda: asyncio.run(running.serve(sockets=[listener])), daemon=True
        )
        thread.start()
        try:
            yield Simulation(state.url, _renamed(state, made, token) if made else "", application)
        finally:
            running.should_exit = True
            thread.join(10)


def _renamed(state: CoderdState, made: str, token: str) -> str:
    """Give the owner's session the id and the secret of `token`."""
    key = state.records.api_keys.pop(made.partition("-")[0])
    key.id, _, secret = token.partition("-")
    key.secret_hash = hashed(secret)
    state.records.api_keys[key.id] = key
    return token
