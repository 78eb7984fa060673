"""What daemon.py and proxy.py share: the container that they run in, and requests to coderd."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from sandbox.pods.addresses import ReachesCoderd
from sandbox.pods.container import PodContainer

PREFIX = "/api/v2"


class Exited(Exception):  # noqa: N818  # what happened, as a container's status says it
    """The program has exited with an error; the kubelet restarts it."""


@dataclass
class RunningContainer:
    """One container until its pod is deleted."""

    container: PodContainer
    coderd: httpx.AsyncClient
    heartbeat: float
    """Seconds between heartbeats; 15 to 60 in the real programs."""
    reaches_coderd: ReachesCoderd
    """Whether a URL reaches coderd from the pod."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    accepted: bool = False
    """Whether coderd accepted the last heartbeat."""

    async def wait(self, seconds: float) -> bool:
        """Wait, and return whether the pod has been deleted."""
        try:
            await asyncio.wait_for(self.ended.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def require_coderd(self, url: str) -> None:
        """Exit, as the real programs do, if the URL does not reach coderd."""
        if not await self.reaches_coderd(url):
            raise Exited(f"nobody answers at {url}")

    async def call(
        self, method: str, path: str, headers: Mapping[str, str], **more: Any
    ) -> httpx.Response | None:
        """Send a request to coderd; return None if it fails."""
        try:
            return await self.coderd.request(method, path, headers=headers, **more)
        except httpx.HTTPError:
            return None


def required(env: Mapping[str, str], name: str) -> str:
    """Return a variable; exit if it is not set."""
    if value := env.get(name):
        return value
    raise Exited(f"{name} is not set")
