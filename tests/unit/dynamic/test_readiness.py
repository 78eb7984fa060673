"""Waiting for coderd, with a clock of the test (CP5), and for another version of it (V2)."""

import httpx
import pytest

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection
from coder_stack.coderd.errors import ProtocolError, Unavailable
from coder_stack.coderd.models import BuildInfo
from coder_stack.coderd.procedures.readiness import wait_until_ready
from coder_stack.coderd.retry import Clock

DEPLOYMENT = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


class StartingCoderd:
    """A coderd that is ready after some seconds, with its own clock."""

    def __init__(
        self, ready_after: float, *, proxy: bool = False, upgraded_after: float = 10_000
    ) -> None:
        self.now = 0.0
        self.upgraded_after = upgraded_after
        self.ready_after = ready_after
        self.proxy = proxy
        self.said: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def answer(self, request: httpx.Request) -> httpx.Response:
        if self.now < self.ready_after:
            raise httpx.ConnectError("refused")
        headers = {"X-Coder-Build-Version": "v2.30.0"}
        if request.url.path == "/healthz":
            return httpx.Response(200, text="OK", headers=headers)
        version = "v2.31.0+abc1234" if self.now >= self.upgraded_after else "v2.30.0"
        build = {"version": version, "deployment_id": DEPLOYMENT, "workspace_proxy": self.proxy}
        return httpx.Response(200, json=build, headers=headers)

    def wait(self, seconds: float, version: str = "") -> BuildInfo:
        clock = Clock(monotonic=lambda: self.now, sleep=self.sleep, between=min)
        transport = httpx.MockTransport(self.answer)
        connection = Connection(base_url="http://127.0.0.1:1")
        with Coderd(connection, transport=transport, clock=clock) as client:
            return wait_until_ready(
                client, seconds, version=version, say=self.said.append, clock=clock
            )


def test_CP5_a_ready_coderd_costs_no_wait() -> None:
    coderd = StartingCoderd(ready_after=0)
    assert str(coderd.wait(60).deployment_id) == DEPLOYMENT
    assert (coderd.now, coderd.said) == (0, [])


def test_CP5_a_starting_coderd_is_waited_for_with_progress() -> None:
    coderd = StartingCoderd(ready_after=45)
    coderd.wait(60)
    assert 45 <= coderd.now < 60
    assert len(coderd.said) in (3, 4)
    assert coderd.said[0].startswith("operator access: waiting for coderd, ")


def test_CP5_the_deadline_ends_in_the_last_error() -> None:
    coderd = StartingCoderd(ready_after=1000)
    with pytest.raises(Unavailable):
        coderd.wait(30)
    assert coderd.now <= 36


def test_V2_an_old_version_that_still_answers_is_waited_for_with_progress() -> None:
    coderd = StartingCoderd(ready_after=0, upgraded_after=25)
    assert coderd.wait(60, "v2.31.0").version == "v2.31.0+abc1234"
    assert 25 <= coderd.now < 30
    assert "it answers with v2.30.0, not yet with v2.31.0." in coderd.said[0]


def test_V2_after_the_deadline_the_version_that_answers_is_returned() -> None:
    coderd = StartingCoderd(ready_after=0)
    assert coderd.wait(30, "v2.31.0").version == "v2.30.0"
    assert coderd.now <= 30


def test_a_workspace_proxy_is_refused() -> None:
    with pytest.raises(ProtocolError, match="a workspace proxy answered"):
        StartingCoderd(ready_after=0, proxy=True).wait(30)
