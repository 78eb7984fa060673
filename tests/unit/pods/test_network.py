"""Where a CONNECT to the pod network ends."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from sandbox.pods import network
from sandbox.pods.network import Address
from tests.unit.pods.manifests import coderd, daemon

CODERD = ("127.0.0.1", 4711)


def cluster(*pods: dict[str, Any], status: int = 200) -> httpx.AsyncClient:
    """Return a client for an API server whose only pods have the requested address."""

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.url.params["fieldSelector"] == "status.podIP=10.0.0.7"
        return httpx.Response(status, json={"items": list(pods)})

    return httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://kube")


def where(kube: httpx.AsyncClient, host: str, port: int = 8080) -> Address | None:
    async def ask() -> Address | None:
        async with kube:
            return await network.pod_lookup(kube, CODERD)(host, port)

    return asyncio.run(ask())


def test_a_running_coderd_pod_leads_to_coderd() -> None:
    assert where(cluster(coderd()), "10.0.0.7") == CODERD


@pytest.mark.parametrize(
    "kube",
    [
        cluster(),
        cluster(daemon()),
        cluster(coderd(phase="Pending")),
        cluster(coderd(ending=True)),
        cluster(status=500),
    ],
    ids=["no pod", "a daemon", "not running", "ending", "no API server"],
)
def test_behind_any_other_address_is_nobody(kube: httpx.AsyncClient) -> None:
    assert where(kube, "10.0.0.7") is None


def test_another_port_of_the_pod_is_closed() -> None:
    assert where(cluster(coderd()), "10.0.0.7", 22) is None


def test_loopback_stays_loopback_and_names_are_unknown() -> None:
    assert where(cluster(), "127.0.0.1", 9443) == ("127.0.0.1", 9443)
    assert where(cluster(), "coder.coder.svc") is None


@pytest.mark.parametrize(
    ("head", "target"),
    [
        (b"CONNECT 10.0.0.7:8080 HTTP/1.1\r\nHost: 10.0.0.7:8080\r\n\r\n", ("10.0.0.7", 8080)),
        (b"CONNECT [fd00::7]:8080 HTTP/1.1\r\n\r\n", ("fd00::7", 8080)),
        (b"CONNECT 10.0.0.7 HTTP/1.1\r\n\r\n", None),
        (b"GET http://10.0.0.7:8080/ HTTP/1.1\r\n\r\n", None),
        (b"\x16\x03\x01 nonsense\r\n\r\n", None),
    ],
)
def test_only_connect_is_understood(head: bytes, target: Address | None) -> None:
    assert network.requested(head) == target


async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Start a server that answers after it has read everything."""
    writer.write((await reader.read()).upper())
    await writer.drain()
    writer.close()


def through_the_network(
    lookup: Callable[[Address], Callable[[str, int], Awaitable[Address | None]]], said: bytes
) -> bytes:
    """Return what the network sends back, with a server that upper-cases."""

    async def scene() -> bytes:
        async with await asyncio.start_server(shout, "127.0.0.1", 0) as behind:
            end: Address = behind.sockets[0].getsockname()
            async with await asyncio.start_server(lambda *_: None, "127.0.0.1", 0) as probe:
                port = probe.sockets[0].getsockname()[1]
            serving = asyncio.create_task(network.serve(port, lookup(end)))
            reader, writer = await connected(port)
            writer.write(said)
            writer.write_eof()
            heard = await asyncio.wait_for(reader.read(), 10)
            writer.close()
            await writer.wait_closed()
            serving.cancel()
            await asyncio.wait([serving])
            return heard

    return asyncio.run(scene())


async def connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    while True:
        try:
            return await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0)


def test_a_tunnel_carries_both_directions_and_their_ends() -> None:
    def to_it(end: Address) -> Callable[[str, int], Awaitable[Address | None]]:
        async def lookup(_host: str, _port: int) -> Address | None:
            return end

        return lookup

    heard = through_the_network(to_it, b"CONNECT 10.0.0.7:8080 HTTP/1.1\r\n\r\nhello")
    assert heard == b"HTTP/1.1 200 Connection established\r\n\r\nHELLO"


@pytest.mark.parametrize("said", [b"CONNECT 10.0.0.7:8080 HTTP/1.1\r\n\r\n", b"GET / x\r\n\r\n"])
def test_where_nobody_is_the_answer_is_502(said: bytes) -> None:
    def nobody(_end: Address) -> Callable[[str, int], Awaitable[Address | None]]:
        async def lookup(_host: str, _port: int) -> Address | None:
            return None

        return lookup

    assert through_the_network(nobody, said).startswith(b"HTTP/1.1 502 ")
