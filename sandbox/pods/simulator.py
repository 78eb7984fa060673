"""Run a simulated daemon or proxy for each running pod of a cluster or of one namespace.

A program ends with its pod. When the simulator itself ends, no program signs off: to coderd this
looks like a power failure of the node.
"""

import asyncio
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from sandbox.cluster import api
from sandbox.pods import daemon, kubelet, load_balancer, proxy, watch
from sandbox.pods.addresses import coderd_resolver
from sandbox.pods.container import Object, Program, coderd_version, containers
from sandbox.pods.program import Exited, RunningContainer

_PROGRAMS = {Program.DAEMON: daemon.run, Program.PROXY: proxy.run}
_RESTART_SECONDS = 0.5
_MAX_RESTART_SECONDS = 5.0


class PodSimulator:
    """The simulated programs, by pod."""

    def __init__(self, log: Callable[[str], None] = lambda _: None) -> None:
        self._containers: dict[str, RunningContainer] = {}
        self._version = ""
        self._log = log

    @property
    def accepted(self) -> list[str]:
        """Return the names of the pods whose program coderd has accepted."""
        return sorted(
            running.container.pod for running in list(self._containers.values()) if running.accepted
        )

    async def run(
        self,
        kubeconfig: Path,
        namespace: str | None,
        coderd_url: str,
        heartbeat: float,
        home: Path | None = None,
    ) -> None:
        """Run until cancelled; `home` is the kubeconfig of coderd's cluster, if another one."""
        async with (
            api.async_client(kubeconfig) as kube,
            httpx.AsyncClient(base_url=coderd_url, timeout=5, trust_env=False) as coderd,
            asyncio.TaskGroup() as tasks,
        ):
            tasks.create_task(load_balancer.assign_addresses(kube, namespace))
            reaches_coderd = coderd_resolver(kube, coderd_url, home)
            async for present in watch.objects(kube, "/api/v1", namespace, "pods"):
                await self._follow_version(present, coderd)
                wanted = containers(present)
                for uid in self._containers.keys() - wanted.keys():
                    self._containers.pop(uid).ended.set()
                for uid in wanted.keys() - self._containers.keys():
                    if wanted[uid].program in _PROGRAMS:
                        self._containers[uid] = RunningContainer(
                            wanted[uid], coderd, heartbeat, reaches_coderd
                        )
                        tasks.create_task(self._run_container(self._containers[uid], kube))

    async def _follow_version(self, present: Iterable[Object], coderd: httpx.AsyncClient) -> None:
        """Let the simulated coderd report the version of its newest pod, if that has changed.

        Else a version that a test sets would not last.
        """
        version = coderd_version(present)
        if not version or version == self._version:
            return
        with suppress(httpx.HTTPError):
            body = {"version": f"{version}+simulated"}
            (await coderd.post("/_sim/settings", json=body)).raise_for_status()
            self._version = version
            self._log(f"coderd is {version} now")

    async def _run_container(self, running: RunningContainer, kube: httpx.AsyncClient) -> None:
        """Start the program, and restart it with backoff, until the pod is deleted."""
        container, pause = running.container, _RESTART_SECONDS
        where = f"{container.namespace}/{container.pod}"
        while not running.ended.is_set():
            self._log(f"{where}: starts {' '.join(container.program.value)}")
            try:
                env = await kubelet.environment(kube, container)
                await _PROGRAMS[container.program](running, env)
            except (kubelet.NotStarted, Exited) as why:
                self._log(f"{where}: {why}")
            running.accepted = False
            await running.wait(pause)
            pause = min(pause * 2, _MAX_RESTART_SECONDS)
        self._log(f"{where}: is gone")


@contextmanager
def simulate_pods(
    kubeconfig: Path, namespace: str | None, coderd_url: str, heartbeat: float = 1.0
) -> Generator[PodSimulator]:
    """Run a simulator in a thread until the block ends, then raise its error, if any."""
    simulator = PodSimulator()
    loop = asyncio.new_event_loop()
    task = loop.create_task(simulator.run(kubeconfig, namespace, coderd_url, heartbeat))

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run, name="simulator")
    thread.start()
    try:
        yield simulator
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    if not task.cancelled():
        task.result()
