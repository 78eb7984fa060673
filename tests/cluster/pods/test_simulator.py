"""Daemons and proxies are connected exactly while a pod of the cluster holds a live credential."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.pods import simulate_pods
from tests.cluster.pods.workloads import Workloads, workloads
from tests.cluster_access import Cluster
from tests.simulation import Simulation, simulated
from tests.waiting import eventually

pytestmark = pytest.mark.cluster
KEYS = "/api/v2/organizations/coder/provisionerkeys"
KEY_ENV = {
    "name": "CODER_PROVISIONER_DAEMON_KEY",
    "valueFrom": {"secretKeyRef": {"name": "eu-key", "key": "key"}},
}


@pytest.fixture
def place(cluster: Cluster) -> Iterator[Workloads]:
    with workloads(cluster) as made:
        yield made


@pytest.fixture
def coderd() -> Iterator[Simulation]:
    with simulated(licensed=True) as simulation:
        yield simulation


def daemon_env(coderd: Simulation) -> list[dict[str, Any]]:
    return [KEY_ENV, {"name": "CODER_URL", "value": coderd.url}]


def new_key(coderd: Simulation, name: str) -> str:
    made: dict[str, Any] = coderd.act("POST", KEYS, {"name": name})
    return made["key"]


def keys_in_use(coderd: Simulation) -> dict[str, int]:
    listed: list[dict[str, Any]] = coderd.act("GET", f"{KEYS}/daemons")
    return {row["key"]["name"]: len(row["daemons"]) for row in listed if row["daemons"]}


def test_P3_daemons_come_and_go_with_their_pods(
    cluster: Cluster, place: Workloads, coderd: Simulation
) -> None:
    place.secret("eu-key", key=new_key(coderd, "eu"))
    with simulate_pods(cluster.kubeconfig, place.namespace, coderd.url) as simulator:
        eu = place.deployment("eu", "provisionerd", "start", env=daemon_env(coderd))
        assert eventually(lambda: keys_in_use(coderd) == {"eu": 1})
        place.scale(eu, 2)
        assert eventually(lambda: keys_in_use(coderd) == {"eu": 2})
        assert eventually(lambda: len(simulator.accepted) == 2)
        place.scale(eu, 0)
        assert eventually(lambda: simulator.accepted == [])
        assert keys_in_use(coderd) == {"eu": 2}, "coderd does not know at once"
        coderd.act("POST", "/_sim/clock", {"advance_seconds": 181})
        assert keys_in_use(coderd) == {}


def test_P4_a_service_leads_a_daemon_to_coderd_while_coderd_runs_behind_it(
    cluster: Cluster, place: Workloads, coderd: Simulation
) -> None:
    place.secret("eu-key", key=new_key(coderd, "eu"))
    host = f"coder.{place.namespace}.svc.cluster.local"

    def at(url: str) -> list[dict[str, Any]]:
        return [KEY_ENV, {"name": "CODER_URL", "value": url}]

    with simulate_pods(cluster.kubeconfig, place.namespace, coderd.url) as simulator:
        place.deployment("good", "provisionerd", "start", env=at(f"http://{host}:80"))
        place.deployment("port", "provisionerd", "start", env=at(f"http://{host}:81"))
        place.deployment("name", "provisionerd", "start", env=at("http://elsewhere.example.com"))
        place.service("coder", "coder")
        assert simulator.accepted == []
        place.deployment("coder", "server")
        assert eventually(lambda: simulator.accepted)
        assert [name.split("-")[0] for name in simulator.accepted] == ["good"]


def test_a_running_daemon_keeps_its_key_until_its_pod_is_replaced(
    cluster: Cluster, place: Workloads, coderd: Simulation
) -> None:
    place.secret("eu-key", key=new_key(coderd, "old"))
    with simulate_pods(cluster.kubeconfig, place.namespace, coderd.url):
        eu = place.deployment("eu", "provisionerd", "start", env=daemon_env(coderd))
        assert eventually(lambda: keys_in_use(coderd) == {"old": 1})
        secret = f"/api/v1/namespaces/{place.namespace}/secrets/eu-key"
        cluster.patch(secret, {"stringData": {"key": new_key(coderd, "new")}})
        seen = coderd.state.now()
        (only,) = coderd.state.records.daemons.values()
        assert eventually(lambda: only.last_seen_at > seen), "it still beats"
        assert keys_in_use(coderd) == {"old": 1}

        rolled = {"spec": {"template": {"metadata": {"annotations": {"key": "new"}}}}}
        cluster.patch(eu, rolled)
        assert eventually(lambda: keys_in_use(coderd).get("new") == 1)


def test_a_daemon_whose_secret_comes_late_starts_then(
    cluster: Cluster, place: Workloads, coderd: Simulation
) -> None:
    with simulate_pods(cluster.kubeconfig, place.namespace, coderd.url) as simulator:
        place.deployment("eu", "provisionerd", "start", env=daemon_env(coderd))
        pods = f"/api/v1/namespaces/{place.namespace}/pods"
        assert eventually(lambda: cluster.names(pods))
        assert simulator.accepted == []
        place.secret("eu-key", key=new_key(coderd, "eu"))
        assert eventually(lambda: keys_in_use(coderd) == {"eu": 1})


def test_W1_a_proxy_is_ok_while_its_pod_runs(
    cluster: Cluster, place: Workloads, coderd: Simulation
) -> None:
    wish = {"name": "sydney", "display_name": "Sydney", "icon": "/emojis/1f998.png"}
    made: dict[str, Any] = coderd.act("POST", "/api/v2/workspaceproxies", wish)
    place.secret("sydney-token", token=made["proxy_token"])

    def status() -> str:
        return coderd.act("GET", "/api/v2/workspaceproxies/sydney")["status"]["status"]

    token = {"secretKeyRef": {"name": "sydney-token", "key": "token"}}
    env = [
        {"name": "CODER_PROXY_SESSION_TOKEN", "valueFrom": token},
        {"name": "CODER_ACCESS_URL", "value": "https://sydney.example.com"},
        {"name": "CODER_PRIMARY_ACCESS_URL", "value": coderd.url},
    ]
    with simulate_pods(cluster.kubeconfig, place.namespace, coderd.url):
        sydney = place.deployment("sydney", "wsproxy", "server", env=env)
        assert eventually(lambda: status() == "ok")
        place.scale(sydney, 0)
        assert eventually(lambda: status() == "unreachable")


def test_other_namespaces_are_not_simulated(
    cluster: Cluster, place: Workloads, coderd: Simulation
) -> None:
    key = new_key(coderd, "eu")
    with (
        workloads(cluster) as elsewhere,
        simulate_pods(cluster.kubeconfig, place.namespace, coderd.url) as simulator,
    ):
        for where in (elsewhere, place):
            where.secret("eu-key", key=key)
            where.deployment("eu", "provisionerd", "start", env=daemon_env(coderd))
        assert eventually(lambda: simulator.accepted)
        pods = f"/api/v1/namespaces/{place.namespace}/pods"
        assert simulator.accepted == cluster.names(pods)
