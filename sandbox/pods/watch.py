"""Watch the objects of one kind; when a watch ends or fails, list them again."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx

from sandbox.pods.container import Object

_RETRY_SECONDS = 0.2


async def objects(
    kube: httpx.AsyncClient, api: str, namespace: str | None, plural: str
) -> AsyncGenerator[list[Object]]:
    """Yield all objects after each change; `api` is a path such as `/api/v1`."""
    path = f"{api}/namespaces/{namespace}/{plural}" if namespace else f"{api}/{plural}"
    while True:
        try:
            async for present in _list_and_watch(kube, path):
                yield present
        except httpx.HTTPError:
            await asyncio.sleep(_RETRY_SECONDS)


async def _list_and_watch(kube: httpx.AsyncClient, path: str) -> AsyncGenerator[list[Object]]:
    answer = await kube.get(path)
    answer.raise_for_status()
    listed: dict[str, Any] = answer.json()
    known: dict[str, Object] = {each["metadata"]["uid"]: each for each in listed["items"]}
    yield list(known.values())
    since = {"watch": "true", "resourceVersion": listed["metadata"]["resourceVersion"]}
    # No read timeout: there may be no event for minutes.
    timeout = httpx.Timeout(5, read=None)
    async with kube.stream("GET", path, params=since, timeout=timeout) as stream:
        stream.raise_for_status()
        async for line in stream.aiter_lines():
            event: dict[str, Any] = json.loads(line)
            if event["type"] == "ERROR":
                # The resource version is too old: list again.
                return
            changed: Object = event["object"]
            if event["type"] == "DELETED":
                known.pop(changed["metadata"]["uid"], None)
            else:
                known[changed["metadata"]["uid"]] = changed
            yield list(known.values())
