"""A simulated coderd inside the test's own process: its state at hand, its doors on 127.0.0.1."""

import asyncio
import socket
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
from sandbox.coderd.rules.identifiers import hashed
from sandbox.coderd.rules.license_key import LicenseTerms, issue
from sandbox.coderd.rules.records import Records
from sandbox.coderd.rules.state import CoderdState, ServerFlags, new_state

OWNER_TOKEN = "simulation-ofTheFirstOwnerForTest"
"""The same in every simulation, so that one process can talk to several with one config."""


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
        """As somebody else with a browser would, behind Pulumi's back."""
        with httpx.Client(base_url=self.url, trust_env=False) as http:
            headers = {"Coder-Session-Token": token or self.token}
            answer = http.request(method, path, json=body, headers=headers)
            answer.raise_for_status()
            return answer.json() if answer.content else None

    def fault(self, kind: str, path: str = "*", **more: Any) -> None:
        """The next matching requests fail; `count=-1`: all of them."""
        self.application.faults.add({"kind": kind, "path": path, **more})

    def refuse(self, status: int, message: str, path: str = "*", **more: Any) -> None:
        """The next matching requests are refused by coderd itself, not by something before it."""
        headers = {"X-Coder-Build-Version": "v2.30.0+simulated"}
        self.fault(
            "status", path, status=status, body={"message": message}, headers=headers, **more
        )

    def peace(self) -> None:
        self.application.faults.clear()

    def requests(self, method: str = "", path: str = "") -> list[str]:
        """What was asked, as `GET /api/v2/…`, newest last."""
        return [
            f"{entry['method']} {entry['path']}"
            for entry in self.application.log.to_json()
            if method in ("", entry["method"]) and path in str(entry["path"])
        ]

    @contextmanager
    def once_asked(self, path: str, act: Callable[[], object]) -> Iterator[None]:
        """Somebody acts after the first request that ends so, and not before."""
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
        """All of them, as if an administrator had removed them."""
        for license_id in self.license_ids():
            self.act("DELETE", f"/api/v2/licenses/{license_id}")

    def backup(self) -> Records:
        """Its database as it is now."""
        return deepcopy(self.state.records)

    def restore(self, backup: Records) -> None:
        """Its database as it was then."""
        self.state.records = backup
        self.state.refresh_entitlements()

    def start_anew(self) -> None:
        """With an empty database: another deployment at the same address."""
        self.restore(new_state(self.state.clock, self.state.flags).records)


def license_text(**terms: Any) -> str:
    """A license that the simulation accepts; the terms are those of LicenseTerms."""
    return issue(LicenseTerms(**terms), datetime.now(UTC))


@contextmanager
def simulated(
    *, agpl: bool = False, licensed: bool = False, fresh: bool = False, token: str = OWNER_TOKEN
) -> Iterator[Simulation]:
    """Runs until the block ends."""
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
