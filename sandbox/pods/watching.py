"""Follows the objects of one kind in a cluster: all of them once, then every change as it happens.

Goes on after whatever befalls the API server: a watch that ends is followed by a fresh list.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx

from sandbox.pods.container import Object

_AGAIN = 0.2


async def objects(
    kube: httpx.AsyncClient, api: str, namespace: str | None, plural: str
) -> AsyncGenerator[list[Object]]:
    """As they are, whenever something about them has changed; `api` is e.g. `/api/v1`."""
    path = f"{api}/namespaces/{namespace}/{plural}" if namespace else f"{api}/{plural}"
    while True:
        try:
            async for present in _until_it_ends(kube, path):
                yield present
        except httpx.HTTPError:
            await asyncio.sleep(_AGAIN)


async def _until_it_ends(kube: httpx.AsyncClient, path: str) -> AsyncGenerator[list[Object]]:
    answer = await kube.get(path)
    answer.raise_for_status()
    listed: dict[str, Any] = answer.json()
    known: dict[str, Object] = {each["metadata"]["uid"]: each for each in listed["items"]}
    yield list(known.values())
    since = {"watch": "true", "resourceVersion": listed["metadata"]["resourceVersion"]}
    # No limit on reading: a quiet cluster is silent for minutes.
    patience = httpx.Timeout(5, read=None)
    async with kube.stream("GET", path, params=since, timeout=patience) as stream:
        stream.raise_for_status()
        async for line in stream.aiter_lines():
            event: dict[str, Any] = json.loads(line)
            if event["type"] == "ERROR":
                # Our place in history is forgotten: list again.
                return
            changed: Object = event["object"]
            if event["type"] == "DELETED":
                known.pop(changed["metadata"]["uid"], None)
            else:
                known[changed["metadata"]["uid"]] = changed
            yield list(known.values())
