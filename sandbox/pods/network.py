"""The pod network: an HTTP CONNECT proxy for the API server's connections to pods and services.

The address of a running coderd pod leads to the simulated coderd. Loopback addresses stay as they
are, for admission webhooks on this machine. All others are refused.
"""

import asyncio
import ipaddress
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import httpx

from sandbox.pods.container import serves_coderd

Address = tuple[str, int]
Lookup = Callable[[str, int], Awaitable[Address | None]]
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
_CHUNK = 65536


def pod_lookup(kube: httpx.AsyncClient, coderd: Address) -> Lookup:
    """Return a function that finds the target of a connection by the current pods."""

    async def lookup(host: str, port: int) -> Address | None:
        try:
            if ipaddress.ip_address(host).is_loopback:
                return host, port
        except ValueError:
            return None
        try:
            answer = await kube.get(
                "/api/v1/pods", params={"fieldSelector": f"status.podIP={host}"}
            )
            answer.raise_for_status()
        except httpx.HTTPError:
            return None
        pods: list[dict[str, Any]] = answer.json()["items"]
        return coderd if any(serves_coderd(pod, port) for pod in pods) else None

    return lookup


async def serve(port: int, lookup: Lookup, tls: ssl.SSLContext | None = None) -> None:
    """Listen on 127.0.0.1 until cancelled."""

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await _tunnel(reader, writer, lookup)
        await _close(writer)

    async with await asyncio.start_server(connection, "127.0.0.1", port, ssl=tls) as server:
        await server.serve_forever()


def requested(head: bytes) -> Address | None:
    """Return the target of `CONNECT host:port HTTP/1.1`; None for other requests."""
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(words) != 3 or words[0] != "CONNECT":
        return None
    host, _, port = words[1].rpartition(":")
    return (host.strip("[]"), int(port)) if port.isdecimal() else None


async def _tunnel(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, lookup: Lookup
) -> None:
    target = requested(await reader.readuntil(b"\r\n\r\n"))
    end = await lookup(*target) if target else None
    if end is None:
        writer.write(_BAD_GATEWAY)
        await writer.drain()
        return
    try:
        inner_reader, inner_writer = await asyncio.open_connection(*end)
    except OSError:
        writer.write(_BAD_GATEWAY)
        await writer.drain()
        return
    writer.write(_ESTABLISHED)
    try:
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))
    finally:
        await _close(inner_writer)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Copy until the source ends, then end the target; the other direction stays open."""
    while chunk := await source.read(_CHUNK):
        target.write(chunk)
        await target.drain()
    if target.can_write_eof():
        with suppress(OSError):
            target.write_eof()
    else:
        target.close()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
