"""One stack in two clusters, on two real API servers; and what one that is away leaves of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coder_stack.left_out import VARIABLE, engine_options
from sandbox.engine import Engine
from sandbox.pods import simulate_pods
from tests.cluster_access import Cluster, OwnCluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import coder_stack
from tests.simulation import license_text, simulated
from tests.waiting import eventually

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("mortal"),
    pytest.mark.usefixtures("impatient"),
]
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


@pytest.fixture
def two(
    engine: Engine, cluster: Cluster, mortal_cluster: OwnCluster, tmp_path: Path
) -> Iterator[Two]:
    """Deployed, with a provisioner in each cluster and the proxy in the other one."""
    far = mortal_cluster
    far.wait()
    with simulated(licensed=True) as coderd:
        settings: dict[str, Any] = {
            "controlPlane": {"accessUrl": coderd.url},
            "clusters": {"sydney": {"kubeconfig": str(far.kubeconfig)}},
            "provisioners": [{"name": "eu"}, {"name": "au", "cluster": "sydney"}],
            "proxies": [SYDNEY],
        }
        with deployed(engine, cluster, coderd, tmp_path, **settings) as stack:
            # The same name in both clusters.
            namespace = f"/api/v1/namespaces/{stack.project.namespace}"
            far.create("/api/v1/namespaces", {"metadata": {"name": stack.project.namespace}})
            stack.give("token", coderd.token)
            stack.give("licenseJwt", license_text())
            with simulate_pods(far.kubeconfig, stack.project.namespace, coderd.url):
                stack.up()
                yield Two(stack, far)
                far.wait()
            far.delete(namespace)


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
