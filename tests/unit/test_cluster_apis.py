"""Kinds that the cluster lacks are mistakes in the config, told before anything is registered."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from coder_stack.cluster.preflight import check_serves
from coder_stack.settings import ConfigError, Settings
from tests.provider.api_server import write_kubeconfig

ROUTE = {"accessUrl": "https://coder.test", "httpRoute": {"parentRefs": [{"name": "edge"}]}}
MONITOR: dict[str, Any] = {"serviceMonitor": {}}
GATEWAY_API = "/apis/gateway.networking.k8s.io/v1"
MONITORING = "/apis/monitoring.coreos.com/v1"
NO_ROUTE = (
    "controlPlane.httpRoute: the cluster does not serve gateway.networking.k8s.io/v1 HTTPRoute; "
    "install the Gateway API's CRDs, or use ingress"
)
NO_MONITOR = (
    "controlPlane.serviceMonitor: the cluster does not serve monitoring.coreos.com/v1 "
    "ServiceMonitor; install the Prometheus Operator's CRDs, or leave serviceMonitor out"
)


def kinds(group_version: str, *names: str) -> tuple[int, dict[str, Any]]:
    resources = [
        {"name": n.lower(), "singularName": "", "namespaced": True, "kind": n, "verbs": ["get"]}
        for n in names
    ]
    listed = {"kind": "APIResourceList", "groupVersion": group_version, "resources": resources}
    return 200, listed


class ApiServer(http.server.HTTPServer):
    """Answers as told, 404 otherwise, and remembers what it was asked."""

    def __init__(self, answers: dict[str, tuple[int, dict[str, Any]]]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(http.server.BaseHTTPRequestHandler):
    server: ApiServer

    def do_GET(self) -> None:
        path = self.path.rstrip("/")
        self.server.asked.append(path)
        status, body = self.server.answers.get(path, (404, {"kind": "Status", "code": 404}))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base's name
        """Quiet."""


@contextmanager
def cluster(answers: dict[str, tuple[int, dict[str, Any]]]) -> Iterator[ApiServer]:
    with ApiServer(answers) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield listening
        finally:
            listening.shutdown()
            thread.join()


def settings(folder: Path, port: int, control_plane: dict[str, Any]) -> Settings:
    path = write_kubeconfig(folder, f"http://127.0.0.1:{port}")
    whole = {"kubernetes": {"kubeconfig": path}, "controlPlane": control_plane}
    return Settings.model_validate(whole, by_alias=True, by_name=False)


def test_B1_every_kind_that_is_not_served_is_named_with_the_way_out(tmp_path: Path) -> None:
    with cluster({}) as server, pytest.raises(ConfigError) as caught:
        check_serves(settings(tmp_path, server.server_port, {**ROUTE, **MONITOR}))
    assert caught.value.problems == [NO_ROUTE, NO_MONITOR]


def test_B1_a_group_without_the_kind_is_not_enough(tmp_path: Path) -> None:
    answers = {GATEWAY_API: kinds("gateway.networking.k8s.io/v1", "Gateway")}
    with cluster(answers) as server, pytest.raises(ConfigError) as caught:
        check_serves(settings(tmp_path, server.server_port, ROUTE))
    assert caught.value.problems == [NO_ROUTE]


def test_what_is_served_is_no_mistake(tmp_path: Path) -> None:
    answers = {
        GATEWAY_API: kinds("gateway.networking.k8s.io/v1", "Gateway", "HTTPRoute"),
        MONITORING: kinds("monitoring.coreos.com/v1", "ServiceMonitor"),
    }
    with cluster(answers) as server:
        check_serves(settings(tmp_path, server.server_port, {**ROUTE, **MONITOR}))
        assert server.asked == [GATEWAY_API, MONITORING]


def test_nothing_is_asked_if_no_such_kind_is_wanted(tmp_path: Path) -> None:
    with cluster({}) as server:
        check_serves(settings(tmp_path, server.server_port, {}))
        assert server.asked == []


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_cluster_that_does_not_let_itself_be_asked_is_left_to_the_engine(
    tmp_path: Path, status: int
) -> None:
    with cluster({GATEWAY_API: (status, {"kind": "Status", "code": status})}) as server:
        check_serves(settings(tmp_path, server.server_port, ROUTE))
        assert server.asked == [GATEWAY_API], "asked once, and not again"


def test_a_cluster_that_does_not_answer_is_left_to_the_check_before(tmp_path: Path) -> None:
    with cluster({}) as server:
        gone = server.server_port
    check_serves(settings(tmp_path, gone, ROUTE))


def test_a_kubeconfig_that_cannot_be_read_is_left_to_the_check_before(tmp_path: Path) -> None:
    wanted = settings(tmp_path, 1, ROUTE)
    (tmp_path / "kubeconfig").write_text("token: [hush-hush")
    check_serves(wanted)
