"""The whole stack in two clusters, on two real API servers."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.engine import Engine
from sandbox.pods import simulate_pods
from tests.cluster_access import Cluster, OwnCluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import coder_stack
from tests.simulation import Simulation, license_text

SYDNEY: dict[str, Any] = {
    "name": "sydney",
    "cluster": "sydney",
    "accessUrl": "https://sydney.example.com",
}


@dataclass
class Two:
    """A stack in two clusters: `far` is the one that the config calls sydney."""

    stack: Deployed
    far: OwnCluster

    def command(self, *words: str) -> tuple[int, dict[str, Any]]:
        """Exit code and report of `coder-stack`."""
        done = coder_stack(
            self.stack.project, *words, "--stack", self.stack.project.stack.name, "--json", "-"
        )
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    def env(self, cluster: Cluster, deployment: str) -> dict[str, str]:
        """The plain environment of a Deployment's container."""
        found = cluster.get(self.stack.project.path("deployments", deployment))
        assert found is not None
        (container,) = found["spec"]["template"]["spec"]["containers"]
        return {each["name"]: each["value"] for each in container["env"] if "value" in each}

    def objects(self, cluster: Cluster) -> set[str]:
        """The stack's own objects, as `Deployment au-provisioner`."""
        kinds = ("deployments", "secrets", "services", "roles", "serviceaccounts")
        found = {
            f"{kind} {name}"
            for kind in kinds
            for name in cluster.names(self.stack.project.path(kind))
        }
        return found - {"serviceaccounts default"}


@contextmanager
def two_clusters(
    engine: Engine,
    near: Cluster,
    far: OwnCluster,
    coderd: Simulation,
    folder: Path,
    proxies: tuple[dict[str, Any], ...] = (SYDNEY,),
) -> Iterator[Two]:
    """Configure a provisioner in each cluster and the proxies in the other one; not yet up."""
    far.wait()
    settings: dict[str, Any] = {
        "controlPlane": {"accessUrl": coderd.url},
        "clusters": {"sydney": {"kubeconfig": str(far.kubeconfig)}},
        "provisioners": [{"name": "eu"}, {"name": "au", "cluster": "sydney"}],
        "proxies": [*proxies],
    }
    with deployed(engine, near, coderd, folder, **settings) as stack:
        # The same name in both clusters.
        name = stack.project.namespace
        far.create("/api/v1/namespaces", {"metadata": {"name": name}})
        stack.give("licenseJwt", license_text())
        with simulate_pods(far.kubeconfig, name, coderd.url):
            yield Two(stack, far)
            far.wait()
        far.delete(f"/api/v1/namespaces/{name}")
