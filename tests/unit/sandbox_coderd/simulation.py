"""A simulation of its own for each test that asks for one, and a plain way to talk to it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from sandbox.coderd.server import Options, serving
from tests.simulation import NO_TLS

KEYS = "/api/v2/organizations/default/provisionerkeys"


@dataclass(frozen=True)
class Simulation:
    """A running simulation with its owner's token."""

    http: httpx.Client
    token: str

    def owner(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"Coder-Session-Token": self.token, **options.pop("headers", {})}
        return self.http.request(method, path, headers=headers, **options)

    def fault(self, kind: str, **more: Any) -> None:
        answer = self.http.post("/_sim/faults", json={"kind": kind, **more})
        assert answer.status_code == 201, answer.text

    def new_key(self, name: str) -> str:
        return self.owner("POST", KEYS, json={"name": name}).json()["key"]

    def key_names(self) -> list[str]:
        return [key["name"] for key in self.owner("GET", KEYS).json()]

    def requests(self) -> list[dict[str, Any]]:
        return self.http.get("/_sim/requests").json()


@contextlib.contextmanager
def running(state: Path | None = None, **options: Any) -> Iterator[Simulation]:
    with (
        serving(Options(state=state, **options)) as hello,
        httpx.Client(base_url=hello.url, timeout=10, verify=NO_TLS) as http,
    ):
        yield Simulation(http, hello.token or "")
