"""The pod network: where a connection to a pod's address ends.

The API server sends everything for pods and services here (its egress selector), as HTTP CONNECT.
The address of a running coderd pod leads to the simulated coderd, loopback stays loopback (an
admission webhook on this machine); behind any other address nobody answers.
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
_NOBODY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
_CHUNK = 65536


def leading_to(kube: httpx.AsyncClient, coderd: Address) -> Lookup:
    """Ask the cluster anew each time: a pod may have gone, and its address be another's."""

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
    """The target of `CONNECT host:port HTTP/1.1`, or None if it is anything else."""
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
        writer.write(_NOBODY)
        await writer.drain()
        return
    try:
        inner_reader, inner_writer = await asyncio.open_connection(*end)
    except OSError:
        writer.write(_NOBODY)
        await writer.drain()
        return
    writer.write(_ESTABLISHED)
    try:
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))
    finally:
        await _close(inner_writer)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Until the source ends; its end is handed on, and the other direction goes on if it can."""
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
