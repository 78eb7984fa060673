"""What fifty provisioners cost: their preview against that of 400 trivial resources, in one run."""

from pathlib import Path

import pytest
from pulumi import automation as auto

from sandbox.engine import Engine
from tests.bench.timing import ratio
from tests.cluster_access import Cluster
from tests.engine.deployed import deployed
from tests.engine_project import Project
from tests.simulation import simulated

PROVISIONERS = 50
TRIVIAL = """
import pulumi
import pulumi_kubernetes as kubernetes

config = pulumi.Config()
cluster = kubernetes.Provider("cluster", kubeconfig=config.require("kubeconfig"))
for number in range(400):
    kubernetes.core.v1.ConfigMap(
        f"trivial-{number}",
        metadata={"namespace": "default", "name": f"trivial-{number}"},
        opts=pulumi.ResourceOptions(provider=cluster),
    )
"""
LIMIT = 1.5
# Once deployed no object is tried on the API server any more, and of those the ConfigMaps had more:
# what is left is the programs' own work.
LIMIT_DEPLOYED = 1.75


@pytest.mark.timeout(1800)
def bench_preview_of_fifty_provisioners(engine: Engine, cluster: Cluster, tmp_path: Path) -> None:
    fleet = [
        {"name": f"p{number}", "key": {"tags": {"number": str(number)}}}
        for number in range(PROVISIONERS)
    ]
    (tmp_path / "trivial").mkdir()
    (tmp_path / "fleet").mkdir()
    trivial = Project.create(engine, cluster, tmp_path / "trivial", TRIVIAL)
    trivial.stack.set_config("kubeconfig", auto.ConfigValue(str(cluster.kubeconfig)))
    with (
        simulated(licensed=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path / "fleet", provisioners=fleet) as stack,
    ):
        stack.give("token", coderd.token)

        def compared() -> float:
            return ratio(lambda: stack.project.pulumi("preview"), lambda: trivial.pulumi("preview"))

        first = compared()
        print(f"\npreview of {PROVISIONERS} provisioners / of 400 ConfigMaps: {first:.2f}")
        stack.up()
        trivial.up()
        try:
            settled = compared()
            print(f"preview of them, deployed / of 400 ConfigMaps, deployed: {settled:.2f}")
        finally:
            stack.destroy()
            trivial.destroy()
    assert first < LIMIT
    assert settled < LIMIT_DEPLOYED
