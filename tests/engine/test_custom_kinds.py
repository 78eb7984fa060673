"""HTTPRoute and ServiceMonitor on a cluster that serves them: made, repaired, taken away."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine_project import Project
from tests.simulation import simulated

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("extended")]


@pytest.fixture
def project(engine: Engine, extended_cluster: Cluster, tmp_path: Path) -> Iterator[Project]:
    with simulated(fresh=True) as coderd:
        project = Project.create(engine, extended_cluster, tmp_path, coderd_url=coderd.url)
        yield project
        project.clean_up()


def test_CP1_D1_objects_of_custom_kinds_are_made_repaired_and_removed(project: Project) -> None:
    project.configure(
        {
            "accessUrl": "https://coder.example.com",
            "httpRoute": {"parentRefs": [{"name": "edge", "namespace": "gateways"}]},
            "serviceMonitor": {"labels": {"release": "prometheus"}},
        }
    )
    project.up()
    route = project.cluster.get(project.path("httproutes", "coder"))
    assert route is not None
    assert route["spec"]["hostnames"] == ["coder.example.com"]
    monitor = project.cluster.get(project.path("servicemonitors", "coder"))
    assert monitor is not None
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    service = project.cluster.get(project.path("services", "coder"))
    assert service is not None
    ports = {port["name"]: port["port"] for port in service["spec"]["ports"]}
    assert ports == {"http": 80, "metrics": 2112}
    assert project.preview(refresh=True).changes == []

    project.cluster.delete(project.path("httproutes", "coder"))
    (drift,) = project.preview(refresh=True).of_kind("HTTPRoute")
    assert drift.op == "create"

    project.configure()
    project.up(refresh=True)
    assert project.cluster.names(project.path("httproutes")) == []
    assert project.cluster.names(project.path("servicemonitors")) == []
