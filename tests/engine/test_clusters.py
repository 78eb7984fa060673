"""One stack in two clusters, on two real API servers; and what one that is away leaves of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coder_stack.left_out import VARIABLE, engine_options
from sandbox.engine import Engine
from tests.cluster_access import Cluster, OwnCluster
from tests.engine.two_clusters import Two, two_clusters
from tests.simulation import simulated
from tests.waiting import eventually

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("clusters"),
    pytest.mark.usefixtures("impatient"),
]


@pytest.fixture
def two(
    engine: Engine, cluster: Cluster, mortal_cluster: OwnCluster, tmp_path: Path
) -> Iterator[Two]:
    """Deployed, with a provisioner in each cluster and the proxy in the other one."""
    with (
        simulated(licensed=True) as coderd,
        two_clusters(engine, cluster, mortal_cluster, coderd, tmp_path) as two,
    ):
        two.stack.give("token", coderd.token)
        two.stack.up()
        yield two


def test_M1_each_part_is_in_its_cluster_and_is_repaired_there(two: Two) -> None:
    stack, near = two.stack, two.stack.project.cluster
    assert stack.unmet() == []
    assert two.objects(two.far) == {
        "deployments au-provisioner",
        "deployments sydney-proxy",
        "roles au-provisioner",
        "secrets au-provisioner-key",
        "secrets sydney-proxy-token",
        "serviceaccounts au-provisioner",
        "serviceaccounts sydney-proxy",
        "services sydney-proxy",
    }
    assert not {each for each in two.objects(near) if "au-" in each or "sydney" in each}
    # Only coderd's own cluster has its Service.
    url = stack.coderd.url
    assert two.env(two.far, "au-provisioner")["CODER_URL"] == url
    assert two.env(two.far, "sydney-proxy")["CODER_PRIMARY_ACCESS_URL"] == url
    assert ".svc.cluster.local" in two.env(near, "eu-provisioner")["CODER_URL"]

    near.delete(stack.project.path("secrets", "eu-provisioner-key"))
    two.far.delete(stack.project.path("secrets", "au-provisioner-key"))
    code, report = two.command("drift")
    causes = {each["name"]: each["kind"] for each in report["resources"]}
    assert code == 2
    assert causes["coder-provisioner-eu-secret"] == "missing"
    assert causes["coder-provisioner-au@sydney-secret"] == "missing"

    code, report = two.command("reconcile")
    assert (code, report["result"], stack.unmet()) == (0, "clean", [])
    assert len(report["repairs"]) >= 2

    before = {key.id for key in stack.key_records()}
    fleet = stack.settings["provisioners"]
    stack.configure(provisioners=[{**each, "key": {"rotation": "2"}} for each in fleet])
    stack.up()
    after = {key.id for key in stack.key_records()}
    assert (len(after), before & after, stack.unmet()) == (2, set(), [])

    # A part moves, in a run that refreshes with the program as a pipeline does.
    (moved,) = [each for each in stack.key_records() if each.name.startswith("au")]
    eu, au = stack.settings["provisioners"]
    stack.configure(provisioners=[eu, {**au, "cluster": None}])
    stack.up(refresh=True)
    assert stack.unmet() == []
    assert not {each for each in two.objects(two.far) if "au-" in each}
    assert "deployments au-provisioner" in two.objects(near)
    assert moved.id in {each.id for each in stack.key_records()}

    stack.project.destroy()
    assert two.objects(two.far) == set()


def test_M2_a_cluster_that_is_away_spoils_nothing_else_and_loses_nothing(two: Two) -> None:
    stack, near, far = two.stack, two.stack.project.cluster, two.far
    keys = {key.id for key in stack.key_records()}
    near.delete(stack.project.path("secrets", "eu-provisioner-key"))
    far.stop_api_server()

    _, failure = stack.project.attempt("up", "--yes", "--skip-preview")
    said = str(failure)
    assert "clusters.sydney.kubeconfig: the API server https://127.0.0.1:" in said
    assert f"to go on without it: {VARIABLE}=sydney pulumi up --exclude" in said

    code, report = two.command("drift")
    found = {each["name"]: each for each in report["resources"]}
    unknown = {name for name, each in found.items() if each["kind"] == "unknown"}
    assert (code, report["result"]) == (2, "drift")
    assert found["coder-provisioner-eu-secret"]["kind"] == "missing"
    assert "coder-provisioner-eu-deployment" not in unknown
    assert {
        "coder-provisioner-au-key",
        "coder-provisioner-au@sydney-secret",
        "coder-provisioner-au@sydney-deployment",
        "coder-provisioner-au-daemons",
        "coder-proxy-sydney-registration",
        "coder-proxy-sydney@sydney-service",
    } <= unknown
    assert {found[name]["cluster"] for name in unknown} == {"sydney"}
    assert "does not answer (Connection refused)" in found["coder-provisioner-au-key"]["cause"]
    conditions = {(each["component"], each["type"]): each for each in report["conditions"]}
    assert conditions["provisioner/au", "DaemonsConnected"]["reason"] == "ClusterLeftOut"
    assert conditions["provisioner/eu", "ProvisionerKeyReady"]["status"] == "True"

    code, report = two.command("reconcile")
    left = {each["name"]: each["left_because"] for each in report["resources"]}
    assert code == 2, report
    assert set(left) == unknown
    assert set(left.values()) == {"Its cluster does not answer."}
    assert "coder-provisioner-eu-secret" in {each["name"] for each in report["repairs"]}
    assert stack.secret("eu-provisioner-key") is not None
    assert {key.id for key in stack.key_records()} == keys

    # The command of the sentence; a rotation is due, and waits for the cluster that is away.
    fleet = stack.settings["provisioners"]
    stack.configure(provisioners=[{**each, "key": {"rotation": "2"}} for each in fleet])
    environment = stack.project.stack.workspace.env_vars
    environment[VARIABLE] = "sydney"
    _, failure = stack.project.attempt("up", "--yes", "--skip-preview", *engine_options(["sydney"]))
    assert failure is None, failure
    del environment[VARIABLE]
    rotated = {key.id: key.name[:2] for key in stack.key_records()}
    # The engine deletes nothing in such a run: the old key waits for the next whole one.
    assert sorted(rotated.values()) == ["au", "eu", "eu"]
    assert keys < set(rotated)
    assert stack.condition("provisioner/au", "ProvisionerKeyReady") == ("Unknown", "ClusterLeftOut")

    _, failure = stack.project.attempt("destroy", "--yes", "--skip-preview")
    assert failure is not None
    assert "unreachable" in str(failure)
    kept = {each["urn"].rpartition("::")[2] for each in stack.project.state()["resources"]}
    assert {"coder-provisioner-au@sydney-secret", "coder-provisioner-au-key"} <= kept

    far.wait()
    stack.up()
    # A Deployment that was alone for a while is not ready at once.
    last: dict[str, Any] = {}

    def clean() -> bool:
        code, report = two.command("drift")
        last.update(report)
        return code == 0

    assert eventually(clean, 90), [(each["name"], each["cause"]) for each in last["resources"]]
    assert stack.unmet() == []
    now = {key.id: key.name[:2] for key in stack.key_records()}
    assert sorted(now.values()) == ["au", "eu"]
    assert not keys & set(now)
    stack.project.destroy()
    assert (two.objects(far), stack.key_records()) == (set(), [])
