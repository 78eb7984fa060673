"""The sandbox's background process: the simulated coderd, the pod network, daemons and proxies.

It starts and stops with the cluster. coderd stores its state in the cluster's folder. A second
cluster has no coderd: what runs in its pods uses that of the first one.
"""

import asyncio
import signal
import ssl
import sys
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path

from sandbox.cluster import api
from sandbox.cluster.pki import Pki
from sandbox.coderd import server
from sandbox.pods import network
from sandbox.pods.simulator import PodSimulator

_HEARTBEAT_SECONDS = 10.0


@dataclass(frozen=True)
class BackgroundConfig:
    """The flags of `python -m sandbox.pods`."""

    kubeconfig: Path
    pki: Path
    network_port: int
    coderd_port: int
    state: Path | None = None
    home: Path | None = None
    """Kubeconfig of coderd's cluster, if it is not this one."""


async def run(config: BackgroundConfig) -> None:
    """Run until a signal; if one task fails, end all."""
    until_signal = _signalled() if config.home else _coderd(config)
    url = f"http://127.0.0.1:{config.coderd_port}"
    simulator = PodSimulator(_log)
    async with api.async_client(config.kubeconfig) as kube, asyncio.TaskGroup() as tasks:
        lookup = network.pod_lookup(kube, ("127.0.0.1", config.coderd_port))
        others = [
            tasks.create_task(network.serve(config.network_port, lookup, _tls_context(config))),
            tasks.create_task(
                simulator.run(config.kubeconfig, None, url, _HEARTBEAT_SECONDS, config.home)
            ),
        ]
        _log(f"coderd is at {url}")
        await until_signal
        for task in others:
            task.cancel()


def _coderd(config: BackgroundConfig) -> Awaitable[None]:
    """Open coderd's socket; return what serves until a signal."""
    coderd, listener, _ = server.ready(
        server.Options(
            port=config.coderd_port,
            licensed=False,
            fresh=True,
            state=config.state,
        )
    )
    return coderd.serve(sockets=[listener])


async def _signalled() -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for given in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(given, ended.set)
    await ended.wait()


def _tls_context(config: BackgroundConfig) -> ssl.SSLContext:
    """Require a client certificate, so that only the API server can connect."""
    pki = Pki(config.pki)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=pki.ca)
    context.load_cert_chain(pki.server_cert, pki.server_key)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def _log(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
