"""What both programs have in common: a life of their own, coderd, and an end.

A program that ends by itself is started again by the kubelet, with its environment read anew.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import httpx

from sandbox.pods.addresses import Leads
from sandbox.pods.container import Container

PREFIX = "/api/v2"


class Exited(Exception):  # noqa: N818  # what happened, as a container's status says it
    """The program ended by itself, as with exit code 1."""


@dataclass
class Life:
    """One container from its start until its pod is gone."""

    container: Container
    coderd: httpx.AsyncClient
    beat: float
    """Seconds between two signs of life; the real programs take 15 to 60."""
    leads: Leads
    """Whether a URL leads to coderd, seen from the pod."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    accepted: bool = False
    """Whether coderd took its last sign of life."""

    async def rest(self, seconds: float) -> bool:
        """Wait; True as soon as the pod is gone."""
        try:
            await asyncio.wait_for(self.ended.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def reach(self, url: str) -> None:
        """End the program, as the real ones do, if nobody answers there."""
        if not await self.leads(url):
            raise Exited(f"nobody answers at {url}")

    async def call(
        self, method: str, path: str, headers: Mapping[str, str], **more: Any
    ) -> httpx.Response | None:
        """One request to coderd; None if nobody answers."""
        try:
            return await self.coderd.request(method, path, headers=headers, **more)
        except httpx.HTTPError:
            return None


def required(env: Mapping[str, str], name: str) -> str:
    """A variable without which the program does not start."""
    return env.get(name) or _exit(f"{name} is not set")


def _exit(why: str) -> NoReturn:
    raise Exited(why)
