"""Follows the pods of a cluster: all of them once, then every change as it happens.

Goes on after whatever befalls the API server: a watch that ends is followed by a fresh list.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx

from sandbox.pods.container import Object

_AGAIN = 0.2


async def pods(kube: httpx.AsyncClient, namespace: str | None) -> AsyncGenerator[list[Object]]:
    """The pods as they are, whenever something about them has changed."""
    path = f"/api/v1/namespaces/{namespace}/pods" if namespace else "/api/v1/pods"
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
    known: dict[str, Object] = {pod["metadata"]["uid"]: pod for pod in listed["items"]}
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
            pod: Object = event["object"]
            if event["type"] == "DELETED":
                known.pop(pod["metadata"]["uid"], None)
            else:
                known[pod["metadata"]["uid"]] = pod
            yield list(known.values())
