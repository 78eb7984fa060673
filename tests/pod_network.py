"""A pod that really has an address: a network namespace with a program in it, known to the cluster.

KWOK's pods have no network, and the API server never proxies to loopback. So a namespace of this
machine plays the pod's host, and a Pod, a Service and its Endpoints tell the API server about it.
Needs Linux, root and iproute2.
"""

import os
import secrets
import shutil
import subprocess
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cluster_access import Cluster

PORT = 7080


@dataclass(frozen=True)
class Pod:
    """Where a program can listen so that only the API server's service proxy leads to it."""

    network: str
    address: str

    def command(self, *program: str) -> list[str]:
        """That program, started inside."""
        return ["ip", "netns", "exec", self.network, *program]


@contextmanager
def pod() -> Generator[Pod]:
    """A network namespace with one address, joined to this machine by a veth pair."""
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("ip") is None:
        if os.environ.get("CI"):
            pytest.fail("needs root and iproute2")
        pytest.skip("needs root and iproute2 to make a network namespace")
    tag = secrets.token_hex(3)
    network, outer, inner = f"cs-{tag}", f"cso{tag}", f"csi{tag}"
    # A /30 of its own in a private range: nothing but the two ends of this pair is ever reached.
    block = secrets.randbelow(64 * 256)
    base = f"10.{192 + block // 256}.{block % 256}"
    with ExitStack() as undo:
        _ip("netns", "add", network)
        undo.callback(_ip, "netns", "delete", network)
        _ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", network)
        _ip("address", "add", f"{base}.1/30", "dev", outer)
        _ip("link", "set", outer, "up")
        _ip("-n", network, "address", "add", f"{base}.2/30", "dev", inner)
        _ip("-n", network, "link", "set", inner, "up")
        _ip("-n", network, "link", "set", "lo", "up")
        yield Pod(network, f"{base}.2")


def expose(cluster: Cluster, pod: Pod, namespace: str, service: str) -> None:
    """Tell the cluster that the pod is there and ready, behind a Service with the port `http`."""
    with cluster.http() as http:

        def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
            answer = http.post(path, json=body)
            answer.raise_for_status()
            return answer.json()

        core = f"/api/v1/namespaces/{namespace}"
        post("/api/v1/namespaces", {"metadata": {"name": namespace}})
        # The gate keeps the scheduler, and so KWOK, away: the status below stays as it is written.
        spec = {
            "schedulingGates": [{"name": "coder-stack.test/played-by-a-network-namespace"}],
            "containers": [{"name": "coder", "image": "coder"}],
        }
        made = post(f"{core}/pods", {"metadata": {"name": service}, "spec": spec})
        status = {"status": {"podIP": pod.address, "podIPs": [{"ip": pod.address}]}}
        http.patch(
            f"{core}/pods/{service}/status",
            json=status,
            headers={"Content-Type": "application/merge-patch+json"},
        ).raise_for_status()
        port = {"name": "http", "port": 80, "targetPort": PORT}
        post(f"{core}/services", {"metadata": {"name": service}, "spec": {"ports": [port]}})
        target = {
            "kind": "Pod",
            "name": service,
            "namespace": namespace,
            "uid": made["metadata"]["uid"],
        }
        subset = {
            "addresses": [{"ip": pod.address, "targetRef": target}],
            "ports": [{"name": "http", "port": PORT}],
        }
        post(f"{core}/endpoints", {"metadata": {"name": service}, "subsets": [subset]})


def _ip(*arguments: str) -> None:
    command: Sequence[str] = ["ip", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"
