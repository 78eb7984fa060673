"""Plays the daemons and proxies of a cluster, or of one namespace of it, against a coderd.

What stands in front of pods is played too: see `front_door`.

A pod that runs gets a program within a few tenths of a second, a pod that goes away loses it. Whose
turn it is is decided in `container`; here are only tasks and clients. When the playing itself ends,
nobody says goodbye: that is a node that lost its power, and coderd notices later.
"""

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from sandbox.cluster import api
from sandbox.pods import daemon, front_door, kubelet, proxy, watching
from sandbox.pods.addresses import leading_to_coderd
from sandbox.pods.container import Program, containers
from sandbox.pods.program import Exited, Life

_PROGRAMS = {Program.DAEMON: daemon.run, Program.PROXY: proxy.run}
_RESTART = 0.5
_SLOWEST_RESTART = 5.0


class Players:
    """Who plays now."""

    def __init__(self, say: Callable[[str], None] = lambda _: None) -> None:
        self._lives: dict[str, Life] = {}
        self._say = say

    @property
    def accepted(self) -> list[str]:
        """The pods whose program coderd took in, by name."""
        return sorted(life.container.pod for life in list(self._lives.values()) if life.accepted)

    async def play(
        self, kubeconfig: Path, namespace: str | None, coderd_url: str, beat: float
    ) -> None:
        """Until cancelled."""
        async with (
            api.async_client(kubeconfig) as kube,
            httpx.AsyncClient(base_url=coderd_url, timeout=5, trust_env=False) as coderd,
            asyncio.TaskGroup() as tasks,
        ):
            tasks.create_task(front_door.give_addresses(kube, namespace))
            leads = leading_to_coderd(kube, coderd_url)
            async for present in watching.objects(kube, "/api/v1", namespace, "pods"):
                wanted = containers(present)
                for uid in self._lives.keys() - wanted.keys():
                    self._lives.pop(uid).ended.set()
                for uid in wanted.keys() - self._lives.keys():
                    if wanted[uid].program in _PROGRAMS:
                        self._lives[uid] = Life(wanted[uid], coderd, beat, leads)
                        tasks.create_task(self._live(self._lives[uid], kube))

    async def _live(self, life: Life, kube: httpx.AsyncClient) -> None:
        """Start the program, and start it again with growing patience, until the pod is gone."""
        container, pause = life.container, _RESTART
        where = f"{container.namespace}/{container.pod}"
        while not life.ended.is_set():
            self._say(f"{where}: starts {' '.join(container.program.value)}")
            try:
                env = await kubelet.environment(kube, container)
                await _PROGRAMS[container.program](life, env)
            except (kubelet.NotStarted, Exited) as why:
                self._say(f"{where}: {why}")
            life.accepted = False
            await life.rest(pause)
            pause = min(pause * 2, _SLOWEST_RESTART)
        self._say(f"{where}: is gone")


@contextmanager
def playing(
    kubeconfig: Path, namespace: str | None, coderd_url: str, beat: float = 1.0
) -> Generator[Players]:
    """In a thread of this process, until the block ends; a fault of the players is raised then."""
    players = Players()
    loop = asyncio.new_event_loop()
    task = loop.create_task(players.play(kubeconfig, namespace, coderd_url, beat))

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run, name="players")
    thread.start()
    try:
        yield players
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    if not task.cancelled():
        task.result()
