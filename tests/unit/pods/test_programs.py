"""The simulated programs against a simulated coderd, without sockets."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from sandbox.coderd import server
from sandbox.coderd.application import Application
from sandbox.coderd.rules import daemons, proxies
from sandbox.coderd.rules.body import Body
from sandbox.coderd.rules.organizations import find_organization
from sandbox.coderd.rules.provisioner_keys import create_key, delete_key
from sandbox.coderd.rules.sessions import authenticate
from sandbox.coderd.rules.state import CoderdState
from sandbox.pods import daemon, proxy
from sandbox.pods.container import Program, containers
from sandbox.pods.program import Exited, RunningContainer
from tests.unit.pods.manifests import daemon as daemon_pod
from tests.unit.pods.manifests import pod

CODERD = "http://coderd"
HERE = {daemon.URL: CODERD, proxy.PRIMARY: CODERD}


async def only_coderd(url: str) -> bool:
    return url == CODERD


class SimulatedCoderd:
    """A simulated coderd and its owner."""

    def __init__(self, http: httpx.AsyncClient, state: CoderdState, token: str) -> None:
        self.http, self.state = http, state
        self.owner = authenticate(state, token)

    def new_key(self, name: str = "eu") -> str:
        organization = find_organization(self.state, self.owner, "coder")
        return create_key(self.state, self.owner, organization, body(name=name, tags={}))

    def new_proxy(self) -> str:
        fields = body(name="sydney", display_name="Sydney", icon="/x.png")
        return proxies.create_proxy(self.state, self.owner, fields)[1]

    def online(self) -> dict[str, str]:
        rows = self.state.records.daemons.values()
        return {row.name: row.version for row in rows if daemons.is_online(self.state, row)}

    def health(self) -> str:
        (only,) = self.state.records.proxies.values()
        return proxies.health(self.state, only).status


def body(**fields: Any) -> Body:
    return Body(fields, frozenset(fields))


def run_in_pod(
    check: Callable[[SimulatedCoderd, RunningContainer], Awaitable[None]], manifest: dict[str, Any]
) -> None:
    """Run `check` with a simulated coderd and the pod's container."""

    async def main() -> None:
        state, token = server.prepare(server.Options())
        transport = httpx.ASGITransport(app=Application(state))
        async with httpx.AsyncClient(transport=transport, base_url=CODERD) as http:
            (found,) = containers([manifest]).values()
            container = RunningContainer(found, http, 0.001, only_coderd)
            await asyncio.wait_for(check(SimulatedCoderd(http, state, token or ""), container), 20)

    asyncio.run(main())


async def until(is_done: Callable[[], bool]) -> None:
    while not is_done():
        await asyncio.sleep(0)


def test_a_daemon_is_listed_with_its_version_while_its_pod_lives() -> None:
    async def check(coderd: SimulatedCoderd, container: RunningContainer) -> None:
        task = asyncio.create_task(daemon.run(container, {daemon.KEY: coderd.new_key(), **HERE}))
        await until(lambda: container.accepted)
        assert coderd.online() == {"eu-1": "v2.30.0"}
        container.ended.set()
        await task
        assert not container.accepted
        assert list(coderd.online()) == ["eu-1"], "it says no goodbye"
        coderd.state.clock.advance(daemons.STALE_AFTER + timedelta(seconds=1))
        assert coderd.online() == {}

    run_in_pod(check, daemon_pod())


def test_a_daemon_may_have_a_name_of_its_own_and_beats() -> None:
    async def check(coderd: SimulatedCoderd, container: RunningContainer) -> None:
        env = {daemon.KEY: coderd.new_key(), daemon.NAME: "builder", **HERE}
        task = asyncio.create_task(daemon.run(container, env))
        await until(lambda: list(coderd.online()) == ["builder"])
        coderd.state.clock.advance(timedelta(minutes=10))
        await until(lambda: list(coderd.online()) == ["builder"])
        task.cancel()

    run_in_pod(check, daemon_pod())


@pytest.mark.parametrize("key", ["", "short", "x" * 43])
def test_a_daemon_without_a_live_key_ends_at_once(key: str) -> None:
    async def check(coderd: SimulatedCoderd, container: RunningContainer) -> None:
        with pytest.raises(Exited):
            await daemon.run(container, {daemon.KEY: key, **HERE})
        assert coderd.state.records.daemons == {}

    run_in_pod(check, daemon_pod())


def test_P4_a_daemon_whose_url_does_not_lead_to_coderd_ends_at_once() -> None:
    async def check(coderd: SimulatedCoderd, container: RunningContainer) -> None:
        elsewhere = {daemon.KEY: coderd.new_key(), daemon.URL: "http://elsewhere"}
        for env in (elsewhere, {daemon.KEY: elsewhere[daemon.KEY]}):
            with pytest.raises(Exited):
                await daemon.run(container, env)
        assert coderd.state.records.daemons == {}

    run_in_pod(check, daemon_pod())


def test_P4_a_proxy_whose_url_does_not_lead_to_coderd_ends_at_once() -> None:
    async def check(coderd: SimulatedCoderd, container: RunningContainer) -> None:
        env = {
            proxy.TOKEN: coderd.new_proxy(),
            proxy.URL: "https://sydney.example.com",
            proxy.PRIMARY: "http://elsewhere",
        }
        with pytest.raises(Exited):
            await proxy.run(container, env)
        assert coderd.health() == "unregistered"

    run_in_pod(check, pod("wsproxy", "server", name="sydney-1"))


def test_without_a_license_a_daemon_waits_for_good() -> None:
    """As the real one: a license that comes later does not help, only another pod does."""

    async def check(coderd: SimulatedCoderd, container: RunningContainer) -> None:
        key = coderd.new_key()
        coderd.state.records.licenses.clear()
        coderd.state.refresh_entitlements()
        task = asyncio.create_task(daemon.run(container, {daemon.KEY: key, **HERE}))
        await asyncio.wait([task], timeout=0.05)
        assert not task.done()
        assert coderd.state.records.daemons == {}
        container.ended.set()
        await task

    run_in_pod(check, daemon_pod())


def test_a_connected_daemon_whose_key_is_deleted_goes_on_unlisted() -> None:
    async def check(coderd: SimulatedCoderd, container: RunningContainer) -> None:
        task = asyncio.create_task(daemon.run(container, {daemon.KEY: coderd.new_key(), **HERE}))
        await until(lambda: container.accepted)
        (key,) = coderd.state.records.provisioner_keys.values()
        delete_key(coderd.state, coderd.owner, key)
        await until(lambda: not container.accepted)
        assert coderd.online() == {}
        assert not task.done()
        container.ended.set()
        await task

    run_in_pod(check, daemon_pod())


def test_a_proxy_is_ok_while_its_pod_lives() -> None:
    async def check(coderd: SimulatedCoderd, container: RunningContainer) -> None:
        env = {proxy.TOKEN: coderd.new_proxy(), proxy.URL: "https://sydney.example.com", **HERE}
        assert coderd.health() == "unregistered"
        task = asyncio.create_task(proxy.run(container, env))
        await until(lambda: container.accepted)
        assert coderd.health() == "ok"
        (row,) = coderd.state.records.proxies.values()
        assert (row.url, row.version) == ("https://sydney.example.com", "v2.30.0")
        container.ended.set()
        await task
        assert coderd.health() == "unreachable"

    run_in_pod(check, pod("wsproxy", "server", name="sydney-1"))


def test_a_proxy_that_lost_its_power_is_unreachable_after_a_minute() -> None:
    async def check(coderd: SimulatedCoderd, container: RunningContainer) -> None:
        env = {proxy.TOKEN: coderd.new_proxy(), proxy.URL: "https://sydney.example.com", **HERE}
        task = asyncio.create_task(proxy.run(container, env))
        await until(lambda: container.accepted)
        task.cancel()
        await asyncio.wait([task])
        coderd.state.clock.advance(timedelta(seconds=61))
        assert coderd.health() == "unreachable"

    run_in_pod(check, pod("wsproxy", "server"))


@pytest.mark.parametrize(
    "env",
    [
        {},
        {proxy.TOKEN: "not-a-token", proxy.URL: "https://sydney.example.com", **HERE},
        {proxy.TOKEN: "given", proxy.URL: "", **HERE},
    ],
)
def test_a_proxy_that_cannot_register_ends_at_once(env: dict[str, str]) -> None:
    async def check(_stage: SimulatedCoderd, container: RunningContainer) -> None:
        with pytest.raises(Exited):
            await proxy.run(container, env)

    run_in_pod(check, pod("wsproxy", "server"))


def test_a_proxy_gives_up_after_eleven_failures_in_a_row() -> None:
    async def check(coderd: SimulatedCoderd, container: RunningContainer) -> None:
        env = {proxy.TOKEN: coderd.new_proxy(), proxy.URL: "https://sydney.example.com", **HERE}
        task = asyncio.create_task(proxy.run(container, env))
        await until(lambda: container.accepted)
        (row,) = coderd.state.records.proxies.values()
        row.deleted = True
        with pytest.raises(Exited):
            await task
        assert container.container.program is Program.PROXY

    run_in_pod(check, pod("wsproxy", "server"))
