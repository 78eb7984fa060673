"""The client on the simulated coderd over real sockets, while the server misbehaves (U2, U3)."""

from typing import Any

import httpx
from pydantic import SecretStr

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection, Deadlines
from sandbox.coderd.rules.state import ServerFlags
from sandbox.coderd.server import Options, serving
from tests.unit.coderd.hammer import hammer

TOTAL = 60.0
KEYS = "/api/v2/organizations/default/provisionerkeys*"
FAULTS: list[dict[str, Any]] = [
    {"kind": "drop_before", "method": "POST", "count": 8, "skip": 3},
    {"kind": "drop_after", "method": "POST", "count": 8, "skip": 20},
    {"kind": "drop_after", "method": "DELETE", "count": 4, "skip": 2},
    {"kind": "status", "status": 503, "method": "GET", "count": 10, "skip": 5},
    {"kind": "status", "status": 429, "headers": {"Retry-After": "0"}, "count": 10, "skip": 30},
]


def test_U3_twenty_threads_lose_and_double_nothing() -> None:
    with serving(Options(flags=ServerFlags(api_rate_limit=-1))) as hello:
        assert hello.token is not None
        for fault in FAULTS:
            httpx.post(f"{hello.url}/_sim/faults", json={"path": KEYS, **fault}).raise_for_status()
        connection = Connection(
            base_url=hello.url, token=SecretStr(hello.token), deadlines=Deadlines(total=TOTAL)
        )

        report = hammer(lambda: Coderd(connection), threads=20, keys_each=6)

        with Coderd(connection) as client:
            there = {key.name for key in client.provisioner_keys("default")}
            valid = {client.provisioner_key_of(key).name for key in report.held.values()}
        assert httpx.get(f"{hello.url}/_sim/faults").json() == [], "every fault was met"
    assert there == set(report.held) == valid
    assert len(report.held) + len(report.deleted) == 120
    assert report.slowest_call <= TOTAL + 1
    assert report.reasons["AnswerLost"] > 0
