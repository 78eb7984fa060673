"""coderd behind the real API server: reached through the service proxy while its pods run.

One cluster of its own for all tests here, since the shared one has nothing inside its pods.
"""

import base64
import os
import signal
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox import cluster as sandbox_cluster
from sandbox.cluster.layout import PARTS, PODS
from sandbox.paths import SandboxPaths
from sandbox.toolchain import CLUSTER, ensure
from tests.cluster.pods.workloads import Workloads, workloads
from tests.cluster_access import Cluster
from tests.processes import processes_in
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("world")]
PORTS = [{"name": "http", "containerPort": 8080}]


def silent(_: str) -> None:
    """Discard progress messages."""


@pytest.fixture(scope="module")
def programs() -> dict[str, Path]:
    return {name: tool.path for name, tool in ensure(CLUSTER).items()}


@pytest.fixture(scope="module")
def paths(
    tmp_path_factory: pytest.TempPathFactory, programs: dict[str, Path]
) -> Iterator[SandboxPaths]:
    paths = SandboxPaths(tmp_path_factory.mktemp("background") / "sandbox")
    sandbox_cluster.stop_after_process(paths, os.getpid())
    sandbox_cluster.up(paths, programs, say=silent, with_pods=True)
    yield paths
    sandbox_cluster.down(paths)
    assert processes_in(paths.folder) == []


@pytest.fixture
def place(paths: SandboxPaths) -> Iterator[Workloads]:
    with workloads(Cluster(paths.kubeconfig)) as made:
        yield made


def service_proxy(place: Workloads, path: str) -> httpx.Response:
    base = f"/api/v1/namespaces/{place.namespace}/services/http:coder:80/proxy"
    with place.cluster.http() as http:
        return http.get(f"{base}{path}")


def deploy_coderd(place: Workloads) -> str:
    deployment = place.deployment("coder", "server", ports=PORTS)
    place.service("coder", "coder")
    return deployment


def test_CP8_coderd_is_reached_through_the_api_server_while_its_pods_run(
    place: Workloads,
) -> None:
    assert service_proxy(place, "/healthz").status_code == 404
    deployment = deploy_coderd(place)
    assert eventually(lambda: service_proxy(place, "/healthz").text == "OK")
    build = service_proxy(place, "/api/v2/buildinfo")
    assert build.json()["version"] == build.headers["x-coder-build-version"]

    place.scale(deployment, 0)
    assert eventually(lambda: service_proxy(place, "/healthz").status_code == 503)
    place.scale(deployment, 1)
    assert eventually(lambda: service_proxy(place, "/healthz").text == "OK")


def test_a_pod_that_is_not_coderd_cannot_be_reached(place: Workloads) -> None:
    place.deployment("coder", "another-program", ports=PORTS)
    place.service("coder", "coder")
    slices = f"/apis/discovery.k8s.io/v1/namespaces/{place.namespace}/endpointslices"

    def has_endpoints() -> bool:
        found: dict[str, Any] = place.cluster.get(slices) or {}
        return any(each.get("endpoints") for each in found["items"])

    assert eventually(has_endpoints)
    refused = service_proxy(place, "/healthz")
    assert refused.status_code in (500, 502, 503)
    assert refused.text != "OK"


def test_what_coderd_knows_survives_a_restart_and_a_kill(
    paths: SandboxPaths, programs: dict[str, Path]
) -> None:
    before = httpx.get(f"{sandbox_cluster.status(paths).coderd}/_sim/state", trust_env=False).json()
    assert before["organizations"] == ["coder"]
    pid = sandbox_cluster.status(paths).parts[PODS]
    assert pid
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not sandbox_cluster.status(paths).ready)

    sandbox_cluster.up(paths, programs, say=silent, with_pods=True)
    assert set(sandbox_cluster.status(paths).parts) == {*PARTS, PODS}
    after = httpx.get(f"{sandbox_cluster.status(paths).coderd}/_sim/state", trust_env=False).json()
    assert after["deployment_id"] == before["deployment_id"]
    assert after["organizations"] == before["organizations"]


def test_an_admission_webhook_on_this_machine_is_still_called(
    paths: SandboxPaths, place: Workloads
) -> None:
    """The API server sends webhooks through the pod network too."""
    called = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            called.set()
            self.send_response(500)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing."""

    pki = paths.cluster / "pki"
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pki / "server.crt", pki / "server.key")
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        webhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        url = f"https://127.0.0.1:{server.server_port}/"
        try:
            with place.cluster.http() as http:
                http.post(webhooks, json=webhook(place.namespace, url, pki)).raise_for_status()

            def refused() -> bool:
                body = {"metadata": {"generateName": "x-"}}
                path = f"/api/v1/namespaces/{place.namespace}/configmaps"
                with place.cluster.http() as http:
                    return http.post(path, json=body).status_code == 500

            assert eventually(refused)
            assert called.is_set()
        finally:
            place.cluster.delete(f"{webhooks}/{place.namespace}")
            server.shutdown()
            thread.join()


def webhook(namespace: str, url: str, pki: Path) -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    ca = base64.b64encode((pki / "ca.crt").read_bytes()).decode()
    hook = {
        "name": "configmaps.coder-stack.test",
        "clientConfig": {"url": url, "caBundle": ca},
        "rules": [rule | {"operations": ["CREATE"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "admissionReviewVersions": ["v1"],
    }
    return {"metadata": {"name": namespace}, "webhooks": [hook]}
