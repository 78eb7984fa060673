"""The sandbox's background process: the simulated coderd, the pod network, daemons and proxies.

Started and stopped with the cluster as one of its parts. coderd keeps its state in the cluster's
folder; all others begin anew with the process, as after a restart of the node.
"""

import asyncio
import ssl
import sys
from dataclasses import dataclass
from pathlib import Path

from sandbox.cluster import api
from sandbox.cluster.pki import Pki
from sandbox.coderd import server
from sandbox.pods import network
from sandbox.pods.playing import Players

# Organizations are nothing that coder-stack makes: somebody has, before it came.
ORGANIZATIONS = ("research",)
_BEAT = 10.0


@dataclass(frozen=True)
class World:
    """Where everything is."""

    kubeconfig: Path
    pki: Path
    network_port: int
    coderd_port: int
    state: Path


async def run(world: World) -> None:
    """Until a signal says stop; if one part fails all end, and the sandbox shows it."""
    coderd, listener, hello = server.ready(
        server.Options(
            port=world.coderd_port,
            licensed=False,
            fresh=True,
            state=world.state,
            organizations=ORGANIZATIONS,
        )
    )
    players = Players(_say)
    async with api.async_client(world.kubeconfig) as kube, asyncio.TaskGroup() as tasks:
        lookup = network.leading_to(kube, ("127.0.0.1", world.coderd_port))
        others = [
            tasks.create_task(
                network.serve(world.network_port, lookup, _for_the_api_server(world))
            ),
            tasks.create_task(players.play(world.kubeconfig, None, hello.url, _BEAT)),
        ]
        _say(f"coderd is at {hello.url}")
        await coderd.serve(sockets=[listener])
        for task in others:
            task.cancel()


def _for_the_api_server(world: World) -> ssl.SSLContext:
    """It insists on TLS; in return nobody else on this machine gets in."""
    pki = Pki(world.pki)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=pki.ca)
    context.load_cert_chain(pki.server_cert, pki.server_key)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
