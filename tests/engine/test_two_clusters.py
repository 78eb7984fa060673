"""The sandbox's proxy moves into a second cluster, which is then switched off."""

import json

import pytest

from sandbox.paths import SECOND, SandboxPaths
from tests.cluster_access import Cluster
from tests.engine.clone import Clone
from tests.processes import processes_in

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

KINDS = {
    "Deployment": "/apis/apps/v1/namespaces/coder/deployments",
    "Secret": "/api/v1/namespaces/coder/secrets",
    "Service": "/api/v1/namespaces/coder/services",
    "ServiceAccount": "/api/v1/namespaces/coder/serviceaccounts",
}


def deploy(clone: Clone) -> str:
    done = clone.run("sandbox", "deploy")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {status for _, _, status in clone.conditions()} == {"True"}
    return done.stdout


def kinds_of_proxy(paths: SandboxPaths) -> set[str]:
    cluster = Cluster(paths.kubeconfig)
    return {
        kind
        for kind, path in KINDS.items()
        if any(name.startswith("sydney-proxy") for name in cluster.names(path))
    }


def test_M1_M2_the_proxy_moves_and_its_cluster_can_be_switched_off(clone: Clone) -> None:
    first = SandboxPaths(clone.folder / ".sandbox")
    file = clone.folder / "Pulumi.sandbox.yaml"
    for_one = file.read_bytes()
    clone.start_python_warm()
    clone.start()
    assert "--run-program" in deploy(clone)
    assert file.read_bytes() == for_one
    assert kinds_of_proxy(first) == set(KINDS)

    up = clone.run("sandbox", "up", "--clusters", "2")
    assert up.returncode == 0, up.stderr
    assert "--run-program" not in deploy(clone)
    assert kinds_of_proxy(first) == set(), "nothing of it is left behind"
    assert kinds_of_proxy(first.second) == set(KINDS)

    broken = clone.run("sandbox", "break", "cluster")
    assert broken.returncode == 0, broken.stderr
    status = clone.run("sandbox", "status", "--json")
    shown = json.loads(status.stdout)
    assert (status.returncode, shown["ready"], shown["second"]["ready"]) == (1, True, False)
    drift = clone.execute("coder-stack", "drift", "--json", "-")
    unknown = [each for each in json.loads(drift.stdout)["resources"] if each["kind"] == "unknown"]
    assert drift.returncode == 2, drift.stderr
    assert {each["cluster"] for each in unknown} == {SECOND}
    assert len(unknown) > len(KINDS), "the objects, and what is in coderd for them"

    assert clone.run("sandbox", "down").returncode == 0
    assert processes_in(clone.folder) == []
    assert file.read_bytes() == for_one
