"""Gives Services of type LoadBalancer and Ingresses an address, as a cloud's controllers would.

Without one, `pulumi up` of such a stack waits until it gives up. Nothing listens at the address: it
is one of those that are kept for documentation.
"""

import asyncio
from contextlib import suppress

import httpx

from sandbox.pods import watching
from sandbox.pods.container import Object

ADDRESS = "192.0.2.1"


async def give_addresses(kube: httpx.AsyncClient, namespace: str | None) -> None:
    """To everything that wants one, until cancelled."""
    async with asyncio.TaskGroup() as tasks:
        for api, plural in (("/api/v1", "services"), ("/apis/networking.k8s.io/v1", "ingresses")):
            tasks.create_task(_follow(kube, api, namespace, plural))


def wants_address(thing: Object) -> bool:
    """A Service of another type has none, and who has one keeps it."""
    balanced = thing["spec"].get("type", "LoadBalancer") == "LoadBalancer"
    return balanced and not thing.get("status", {}).get("loadBalancer", {}).get("ingress")


async def _follow(kube: httpx.AsyncClient, api: str, namespace: str | None, plural: str) -> None:
    async for present in watching.objects(kube, api, namespace, plural):
        for thing in filter(wants_address, present):
            meta = thing["metadata"]
            # Whatever the answer, the watch tells what came of it: the object may be gone already.
            with suppress(httpx.HTTPError):
                await kube.patch(
                    f"{api}/namespaces/{meta['namespace']}/{plural}/{meta['name']}/status",
                    json={"status": {"loadBalancer": {"ingress": [{"ip": ADDRESS}]}}},
                    headers={"Content-Type": "application/merge-patch+json"},
                )
