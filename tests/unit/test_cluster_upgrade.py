"""Which version of coderd runs is found out with one request, and coderd asked only if needed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coder_stack.cluster.references import survey
from coder_stack.cluster.upgrade import upgrade_plan
from coder_stack.coderd.upgrade import NOTHING, UpgradePlan
from coder_stack.settings import Settings
from tests.http_server import QuietHandler, serve
from tests.provider.api_server import write_kubeconfig
from tests.provider.tls_api_server import PROXIED, tls_api_server
from tests.simulation import Simulation, simulated

EU, SYDNEY = {"name": "eu"}, {"name": "sydney", "accessUrl": "https://sydney.test"}
NAMESPACE = "/api/v1/namespaces/coder"
DEPLOYMENTS = "/apis/apps/v1/namespaces/coder/deployments"
LISTED = f"{DEPLOYMENTS}?labelSelector=app.kubernetes.io/part-of%3Dcoder"


@dataclass
class Cluster:
    """An API server with Deployments in the namespace `coder`, and a coderd."""

    coderd: Simulation
    folder: Path
    images: dict[str, str] = field(default_factory=dict[str, str])
    elsewhere: dict[str, str] = field(default_factory=dict[str, str])
    """Those in the namespace `builders`."""
    may_list: bool = True
    asked: list[str] = field(default_factory=list[str])
    port: int = 0

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        if path in (NAMESPACE, NAMESPACE.replace("coder", "builders")):
            return 200, b'{"metadata": {}}'
        if path in (LISTED, LISTED.replace("/coder/", "/builders/")):
            found = self.images if path == LISTED else self.elsewhere
            items = [deployment(*each) for each in found.items()]
            return (200, json.dumps({"items": items}).encode()) if self.may_list else (403, b"{}")
        name = path.removeprefix(f"{DEPLOYMENTS}/")
        if name in self.images:
            return 200, json.dumps(deployment(name, self.images[name])).encode()
        status = {"reason": "NotFound", "details": {"kind": "deployments"}}
        return 404, json.dumps(status).encode()

    def plan(self, tag: str = "v2.30.0", **parts: Any) -> UpgradePlan:
        kubeconfig = write_kubeconfig(self.folder, f"http://127.0.0.1:{self.port}")
        whole = {
            "kubernetes": {"kubeconfig": kubeconfig},
            "controlPlane": {"createNamespace": False, "image": {"tag": tag}},
            "access": {"url": self.coderd.url},
            **parts,
        }
        settings = Settings.model_validate(whole, by_alias=True, by_name=False)
        return upgrade_plan(settings, survey(settings, None).images)

    @property
    def deployments_read(self) -> list[str]:
        return [each.removeprefix(DEPLOYMENTS) for each in self.asked if "deployments" in each]


def deployment(name: str, image: str) -> dict[str, Any]:
    containers = [{"name": "coder", "image": image}]
    return {
        "metadata": {"name": name},
        "spec": {"template": {"spec": {"containers": containers}}},
    }


def image(tag: str) -> str:
    return f"ghcr.io/coder/coder:{tag}"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with simulated() as coderd:
        cluster = Cluster(coderd, tmp_path)

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                status, body = cluster.answer(self.path)
                self.reply(status, body, Content_Type="application/json")

        with serve(Handler) as cluster.port:
            yield cluster


def test_V2_the_wanted_image_costs_one_request_and_none_to_coderd(cluster: Cluster) -> None:
    cluster.images = {"coder": image("v2.30.0")}
    assert cluster.plan() == NOTHING
    assert cluster.deployments_read == ["/coder"]
    assert cluster.coderd.requests() == []


def test_V2_with_provisioners_and_proxies_it_is_one_request_too(cluster: Cluster) -> None:
    names = ("coder", "eu-provisioner", "sydney-proxy")
    cluster.images = dict.fromkeys(names, image("v2.30.0"))
    assert cluster.plan(provisioners=[EU], proxies=[SYDNEY]) == NOTHING
    assert cluster.deployments_read == [LISTED.removeprefix(DEPLOYMENTS)]
    assert cluster.coderd.requests() == []


def test_V2_another_image_is_compared_with_coderds_own_answer(cluster: Cluster) -> None:
    cluster.images = {"coder": image("latest")}
    assert "from v2.30.0 to v2.31.0" in cluster.plan("v2.31.0").warnings[0]
    assert cluster.coderd.requests() == ["GET /api/v2/buildinfo"]
    assert "lower than v2.30.0" in cluster.plan("v2.29.0").mistake


def test_V2_without_an_answer_of_coderd_the_tag_counts(cluster: Cluster) -> None:
    cluster.images = {"coder": image("v2.31.0")}
    nowhere = {"url": "http://127.0.0.1:1"}
    assert "lower than v2.31.0" in cluster.plan("v2.30.0", access=nowhere).mistake


def test_V2_before_the_first_deployment_there_is_nothing_to_compare(cluster: Cluster) -> None:
    assert cluster.plan(provisioners=[EU]) == NOTHING


def test_V2_a_provisioner_that_is_behind_shows_an_unfinished_upgrade(cluster: Cluster) -> None:
    cluster.images = {"coder": image("v2.31.0"), "eu-provisioner": image("v2.30.0")}
    assert cluster.plan("v2.31.0", provisioners=[EU]).expected == "v2.31.0"
    pinned = {**EU, "image": {"tag": "v2.30.0"}}
    assert cluster.plan("v2.31.0", provisioners=[pinned]) == NOTHING, "it stays where it is"


def test_V2_a_provisioner_in_another_namespace_is_looked_for_there(cluster: Cluster) -> None:
    cluster.images = {"coder": image("v2.31.0")}
    cluster.elsewhere = {"eu-provisioner": image("v2.30.0")}
    away = {**EU, "namespace": "builders"}
    assert cluster.plan("v2.31.0", provisioners=[away]).expected == "v2.31.0"
    assert len(cluster.deployments_read) == 2, "one list for each namespace"


def test_V2_who_may_not_list_reads_coderd_alone(cluster: Cluster) -> None:
    cluster.may_list = False
    cluster.images = {"coder": image("v2.29.0")}
    assert cluster.plan("v2.30.0", provisioners=[EU]) == NOTHING, "coderd answers with v2.30.0"
    assert cluster.plan("v2.31.0", provisioners=[EU]).under_way


def test_V2_coderd_is_asked_through_the_api_server_unless_the_config_has_a_url(
    tmp_path: Path,
) -> None:
    with simulated() as coderd, tls_api_server(tmp_path, "localhost", coderd.url) as server:
        address = f"https://localhost:{server.port}"
        trusted = {"certificate-authority": str(server.ca)}
        whole = {
            "kubernetes": {"kubeconfig": write_kubeconfig(tmp_path, address, **trusted)},
            "controlPlane": {"image": {"tag": "v2.29.0"}},
        }
        settings = Settings.model_validate(whole, by_alias=True, by_name=False)
        plan = upgrade_plan(settings, {(None, "coder", "coder"): image("latest")})
    assert "lower than v2.30.0" in plan.mistake
    assert server.asked == [f"{PROXIED}/api/v2/buildinfo"]
