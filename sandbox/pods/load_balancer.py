"""Assign addresses to Services of type LoadBalancer and to Ingresses, as a cloud's controllers do.

Without one, `pulumi up` waits for it until a timeout. Nothing listens at the address.
"""

import asyncio
from contextlib import suppress

import httpx

from sandbox.pods import watch
from sandbox.pods.container import Object

ADDRESS = "192.0.2.1"  # reserved for documentation


async def assign_addresses(kube: httpx.AsyncClient, namespace: str | None) -> None:
    """Assign addresses until cancelled."""
    async with asyncio.TaskGroup() as tasks:
        for api, plural in (("/api/v1", "services"), ("/apis/networking.k8s.io/v1", "ingresses")):
            tasks.create_task(_follow(kube, api, namespace, plural))


def needs_address(thing: Object) -> bool:
    """Return whether it is an Ingress or a LoadBalancer without an address."""
    balanced = thing["spec"].get("type", "LoadBalancer") == "LoadBalancer"
    return balanced and not thing.get("status", {}).get("loadBalancer", {}).get("ingress")


async def _follow(kube: httpx.AsyncClient, api: str, namespace: str | None, plural: str) -> None:
    async for present in watch.objects(kube, api, namespace, plural):
        for thing in filter(needs_address, present):
            meta = thing["metadata"]
            # The object may have been deleted; the watch shows the result.
            with suppress(httpx.HTTPError):
                await kube.patch(
                    f"{api}/namespaces/{meta['namespace']}/{plural}/{meta['name']}/status",
                    json={"status": {"loadBalancer": {"ingress": [{"ip": ADDRESS}]}}},
                    headers={"Content-Type": "application/merge-patch+json"},
                )
