"""Waiting for coderd with a clock that tests hold (CP5)."""

from collections.abc import Callable

import httpx
import pytest

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection
from coder_stack.coderd.errors import ProtocolError, Unavailable
from coder_stack.coderd.models import BuildInfo
from coder_stack.coderd.procedures.readiness import wait_until_ready
from coder_stack.coderd.retry import Clock

DEPLOYMENT = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


class World:
    """A coderd that is ready after some seconds, and the time in which that happens."""

    def __init__(self, ready_after: float, *, proxy: bool = False) -> None:
        self.now = 0.0
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
        build = {"version": "v2.30.0", "deployment_id": DEPLOYMENT, "workspace_proxy": self.proxy}
        return httpx.Response(200, json=build, headers=headers)

    def wait(self, seconds: float) -> BuildInfo:
        between: Callable[[float, float], float] = lambda low, _high: low  # noqa: E731
        clock = Clock(monotonic=lambda: self.now, sleep=self.sleep, between=between)
        transport = httpx.MockTransport(self.answer)
        with Coderd(
            Connection(base_url="http://127.0.0.1:1"), transport=transport, clock=clock
        ) as coderd:
            return wait_until_ready(coderd, seconds, say=self.said.append, clock=clock)


def test_CP5_a_ready_coderd_is_not_waited_for() -> None:
    world = World(ready_after=0)
    assert str(world.wait(60).deployment_id) == DEPLOYMENT
    assert (world.now, world.said) == (0, [])


def test_CP5_a_starting_coderd_is_waited_for_with_progress() -> None:
    world = World(ready_after=45)
    world.wait(60)
    assert 45 <= world.now < 60
    assert len(world.said) in (3, 4)
    assert world.said[0].startswith("operator access: waiting for coderd, ")


def test_CP5_the_deadline_ends_in_the_last_error() -> None:
    world = World(ready_after=1000)
    with pytest.raises(Unavailable):
        world.wait(30)
    assert world.now <= 36


def test_a_workspace_proxy_is_no_coderd() -> None:
    with pytest.raises(ProtocolError, match="a workspace proxy answered"):
        World(ready_after=0, proxy=True).wait(30)
