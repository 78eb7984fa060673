"""The programs inside the pods, against a simulated coderd without a socket between them."""

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
from sandbox.coderd.rules.world import World
from sandbox.pods import daemon, proxy
from sandbox.pods.container import Program, containers
from sandbox.pods.program import Exited, Life
from tests.unit.pods.manifests import daemon as daemon_pod
from tests.unit.pods.manifests import pod

CODERD = "http://coderd"
HERE = {daemon.URL: CODERD, proxy.PRIMARY: CODERD}


async def only_coderd(url: str) -> bool:
    return url == CODERD


class Stage:
    """A world, its owner, and one life to be led in it."""

    def __init__(self, http: httpx.AsyncClient, world: World, token: str) -> None:
        self.http, self.world = http, world
        self.owner = authenticate(world, token)

    def new_key(self, name: str = "eu") -> str:
        organization = find_organization(self.world, self.owner, "coder")
        return create_key(self.world, self.owner, organization, body(name=name, tags={}))

    def new_proxy(self) -> str:
        wish = body(name="sydney", display_name="Sydney", icon="/x.png")
        return proxies.create_proxy(self.world, self.owner, wish)[1]

    def online(self) -> dict[str, str]:
        rows = self.world.records.daemons.values()
        return {row.name: row.version for row in rows if daemons.is_online(self.world, row)}

    def health(self) -> str:
        (only,) = self.world.records.proxies.values()
        return proxies.health(self.world, only)


def body(**fields: Any) -> Body:
    return Body(fields, frozenset(fields))


def on_stage(act: Callable[[Stage, Life], Awaitable[None]], manifest: dict[str, Any]) -> None:
    """One test's own world, for as long as `act` takes."""

    async def scene() -> None:
        world, token = server.prepare(server.Options())
        transport = httpx.ASGITransport(app=Application(world))
        async with httpx.AsyncClient(transport=transport, base_url=CODERD) as http:
            (container,) = containers([manifest]).values()
            life = Life(container, http, 0.001, only_coderd)
            await asyncio.wait_for(act(Stage(http, world, token or ""), life), 20)

    asyncio.run(scene())


async def until(happens: Callable[[], bool]) -> None:
    while not happens():
        await asyncio.sleep(0)


def test_a_daemon_is_listed_with_its_version_while_its_pod_lives() -> None:
    async def act(stage: Stage, life: Life) -> None:
        running = asyncio.create_task(daemon.run(life, {daemon.KEY: stage.new_key(), **HERE}))
        await until(lambda: life.accepted)
        assert stage.online() == {"eu-1": "v2.30.0"}
        life.ended.set()
        await running
        assert not life.accepted
        assert list(stage.online()) == ["eu-1"], "it says no goodbye"
        stage.world.clock.advance(daemons.STALE_AFTER + timedelta(seconds=1))
        assert stage.online() == {}

    on_stage(act, daemon_pod())


def test_a_daemon_may_have_a_name_of_its_own_and_beats() -> None:
    async def act(stage: Stage, life: Life) -> None:
        env = {daemon.KEY: stage.new_key(), daemon.NAME: "builder", **HERE}
        running = asyncio.create_task(daemon.run(life, env))
        await until(lambda: list(stage.online()) == ["builder"])
        stage.world.clock.advance(timedelta(minutes=10))
        await until(lambda: list(stage.online()) == ["builder"])
        running.cancel()

    on_stage(act, daemon_pod())


@pytest.mark.parametrize("key", ["", "short", "x" * 43])
def test_a_daemon_without_a_live_key_ends_at_once(key: str) -> None:
    async def act(stage: Stage, life: Life) -> None:
        with pytest.raises(Exited):
            await daemon.run(life, {daemon.KEY: key, **HERE})
        assert stage.world.records.daemons == {}

    on_stage(act, daemon_pod())


def test_P4_a_daemon_whose_url_does_not_lead_to_coderd_ends_at_once() -> None:
    async def act(stage: Stage, life: Life) -> None:
        elsewhere = {daemon.KEY: stage.new_key(), daemon.URL: "http://elsewhere"}
        for env in (elsewhere, {daemon.KEY: elsewhere[daemon.KEY]}):
            with pytest.raises(Exited):
                await daemon.run(life, env)
        assert stage.world.records.daemons == {}

    on_stage(act, daemon_pod())


def test_P4_a_proxy_whose_url_does_not_lead_to_coderd_ends_at_once() -> None:
    async def act(stage: Stage, life: Life) -> None:
        env = {
            proxy.TOKEN: stage.new_proxy(),
            proxy.URL: "https://sydney.example.com",
            proxy.PRIMARY: "http://elsewhere",
        }
        with pytest.raises(Exited):
            await proxy.run(life, env)
        assert stage.health() == "unregistered"

    on_stage(act, pod("wsproxy", "server", name="sydney-1"))


def test_without_a_license_a_daemon_waits_for_good() -> None:
    """As the real one: a license that comes later does not help, only another pod does."""

    async def act(stage: Stage, life: Life) -> None:
        key = stage.new_key()
        stage.world.records.licenses.clear()
        stage.world.refresh_entitlements()
        running = asyncio.create_task(daemon.run(life, {daemon.KEY: key, **HERE}))
        await asyncio.wait([running], timeout=0.05)
        assert not running.done()
        assert stage.world.records.daemons == {}
        life.ended.set()
        await running

    on_stage(act, daemon_pod())


def test_a_connected_daemon_whose_key_is_deleted_goes_on_unlisted() -> None:
    async def act(stage: Stage, life: Life) -> None:
        running = asyncio.create_task(daemon.run(life, {daemon.KEY: stage.new_key(), **HERE}))
        await until(lambda: life.accepted)
        (key,) = stage.world.records.provisioner_keys.values()
        delete_key(stage.world, stage.owner, key)
        await until(lambda: not life.accepted)
        assert stage.online() == {}
        assert not running.done()
        life.ended.set()
        await running

    on_stage(act, daemon_pod())


def test_a_proxy_is_ok_while_its_pod_lives() -> None:
    async def act(stage: Stage, life: Life) -> None:
        env = {proxy.TOKEN: stage.new_proxy(), proxy.URL: "https://sydney.example.com", **HERE}
        assert stage.health() == "unregistered"
        running = asyncio.create_task(proxy.run(life, env))
        await until(lambda: life.accepted)
        assert stage.health() == "ok"
        (row,) = stage.world.records.proxies.values()
        assert (row.url, row.version) == ("https://sydney.example.com", "v2.30.0")
        life.ended.set()
        await running
        assert stage.health() == "unreachable"

    on_stage(act, pod("wsproxy", "server", name="sydney-1"))


def test_a_proxy_that_lost_its_power_is_unreachable_after_a_minute() -> None:
    async def act(stage: Stage, life: Life) -> None:
        env = {proxy.TOKEN: stage.new_proxy(), proxy.URL: "https://sydney.example.com", **HERE}
        running = asyncio.create_task(proxy.run(life, env))
        await until(lambda: life.accepted)
        running.cancel()
        await asyncio.wait([running])
        stage.world.clock.advance(timedelta(seconds=61))
        assert stage.health() == "unreachable"

    on_stage(act, pod("wsproxy", "server"))


@pytest.mark.parametrize(
    "env",
    [
        {},
        {proxy.TOKEN: "not-a-token", proxy.URL: "https://sydney.example.com", **HERE},
        {proxy.TOKEN: "given", proxy.URL: "", **HERE},
    ],
)
def test_a_proxy_that_cannot_register_ends_at_once(env: dict[str, str]) -> None:
    async def act(_stage: Stage, life: Life) -> None:
        with pytest.raises(Exited):
            await proxy.run(life, env)

    on_stage(act, pod("wsproxy", "server"))


def test_a_proxy_gives_up_after_eleven_failures_in_a_row() -> None:
    async def act(stage: Stage, life: Life) -> None:
        env = {proxy.TOKEN: stage.new_proxy(), proxy.URL: "https://sydney.example.com", **HERE}
        running = asyncio.create_task(proxy.run(life, env))
        await until(lambda: life.accepted)
        (row,) = stage.world.records.proxies.values()
        row.deleted = True
        with pytest.raises(Exited):
            await running
        assert life.container.program is Program.PROXY

    on_stage(act, pod("wsproxy", "server"))
