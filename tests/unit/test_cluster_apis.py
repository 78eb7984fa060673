"""Kinds that the cluster lacks are mistakes in the config, told before anything is registered."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from coder_stack.cluster.preflight import unserved
from coder_stack.settings import Settings
from tests.http_server import QuietHandler, serve
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

DATABASE: dict[str, Any] = {"database": {"cloudNativePg": {}}}
POSTGRESQL = "/apis/postgresql.cnpg.io/v1"
NO_DATABASE = (
    "controlPlane.database.cloudNativePg: the cluster does not serve postgresql.cnpg.io/v1 "
    "Cluster; install the CloudNativePG operator (Helm chart cloudnative-pg, see "
    "docs/database.md), or use database.secretName"
)


def kinds(group_version: str, *names: str) -> tuple[int, dict[str, Any]]:
    resources = [
        {"name": n.lower(), "singularName": "", "namespaced": True, "kind": n, "verbs": ["get"]}
        for n in names
    ]
    listed = {"kind": "APIResourceList", "groupVersion": group_version, "resources": resources}
    return 200, listed


@contextmanager
def cluster(
    answers: dict[str, tuple[int, dict[str, Any]]],
) -> Iterator[tuple[int, list[str]]]:
    """Run an API server with these answers, 404 otherwise; yield its port and what it is asked."""
    asked: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            path = self.path.rstrip("/")
            asked.append(path)
            status, body = answers.get(path, (404, {"kind": "Status", "code": 404}))
            self.reply(status, json.dumps(body).encode(), Content_Type="application/json")

    with serve(Handler) as port:
        yield port, asked


def settings(
    folder: Path, port: int, control_plane: dict[str, Any], *proxies: dict[str, Any]
) -> Settings:
    path = write_kubeconfig(folder, f"http://127.0.0.1:{port}")
    whole = {
        "kubernetes": {"kubeconfig": path},
        "controlPlane": control_plane,
        "proxies": list(proxies),
    }
    return Settings.model_validate(whole, by_alias=True, by_name=False)


def test_B1_every_kind_that_is_not_served_is_named_with_the_way_out(tmp_path: Path) -> None:
    with cluster({}) as (port, _):
        found = unserved(settings(tmp_path, port, {**ROUTE, **MONITOR}))
    assert found == [NO_ROUTE, NO_MONITOR]


def test_B1_W2_what_proxies_ask_for_is_looked_for_too_and_once(tmp_path: Path) -> None:
    near = {"name": "near", "accessUrl": "https://near.test"}
    far = {"name": "far", "accessUrl": "https://far.test", "httpRoute": ROUTE["httpRoute"]}
    with cluster({}) as (port, asked):
        found = unserved(settings(tmp_path, port, ROUTE, {**near, **MONITOR}, {**far, **MONITOR}))
        assert asked == [GATEWAY_API, MONITORING]
    assert found == [
        NO_ROUTE.replace(": ", ", proxies[1].httpRoute: ", 1),
        NO_MONITOR.replace("controlPlane.", "proxies[0].", 1).replace(
            ": ", ", proxies[1].serviceMonitor: ", 1
        ),
    ]


def test_B1_M1_each_cluster_is_asked_for_what_its_own_parts_want(tmp_path: Path) -> None:
    route = {"name": "far", "accessUrl": "https://far.test", "httpRoute": ROUTE["httpRoute"]}
    (other := tmp_path / "other").mkdir()
    served = {GATEWAY_API: kinds("gateway.networking.k8s.io/v1", "HTTPRoute")}
    with cluster(served) as (near, near_asked), cluster({}) as (far, far_asked):
        wanted = settings(tmp_path, near, {**ROUTE, **MONITOR}).model_dump(by_alias=True)
        path = write_kubeconfig(other, f"http://127.0.0.1:{far}")
        there = {
            "clusters": {"sydney": {"kubeconfig": path}},
            "proxies": [{**route, "cluster": "sydney"}],
        }
        whole = Settings.model_validate({**wanted, **there}, by_alias=True, by_name=False)
        found = unserved(whole)
        assert near_asked == [GATEWAY_API, MONITORING]
        assert far_asked == [GATEWAY_API]
        assert unserved(whole, without=["sydney"]) == [NO_MONITOR]
        assert far_asked == [GATEWAY_API], "a cluster that is left out is not asked"
    far_route = NO_ROUTE.replace("controlPlane.", "proxies[0].").replace("the cl", "cl")
    assert found == [NO_MONITOR, far_route.replace("cluster does", "cluster sydney does")]


def test_F3_without_the_operators_kind_the_config_says_how_to_install_it(tmp_path: Path) -> None:
    with cluster({}) as (port, _):
        assert unserved(settings(tmp_path, port, DATABASE)) == [NO_DATABASE]
    with cluster({POSTGRESQL: kinds("postgresql.cnpg.io/v1", "Cluster")}) as (port, _):
        assert unserved(settings(tmp_path, port, DATABASE)) == []


def test_B1_a_group_without_the_kind_is_not_enough(tmp_path: Path) -> None:
    answers = {GATEWAY_API: kinds("gateway.networking.k8s.io/v1", "Gateway")}
    with cluster(answers) as (port, _):
        assert unserved(settings(tmp_path, port, ROUTE)) == [NO_ROUTE]


def test_what_is_served_is_no_mistake(tmp_path: Path) -> None:
    answers = {
        GATEWAY_API: kinds("gateway.networking.k8s.io/v1", "Gateway", "HTTPRoute"),
        MONITORING: kinds("monitoring.coreos.com/v1", "ServiceMonitor"),
    }
    with cluster(answers) as (port, asked):
        assert unserved(settings(tmp_path, port, {**ROUTE, **MONITOR})) == []
        assert asked == [GATEWAY_API, MONITORING]


def test_nothing_is_asked_if_no_such_kind_is_wanted(tmp_path: Path) -> None:
    with cluster({}) as (port, asked):
        assert unserved(settings(tmp_path, port, {})) == []
        assert asked == []


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_cluster_that_does_not_let_itself_be_asked_is_left_to_the_engine(
    tmp_path: Path, status: int
) -> None:
    with cluster({GATEWAY_API: (status, {"kind": "Status", "code": status})}) as (port, asked):
        assert unserved(settings(tmp_path, port, ROUTE)) == []
        assert asked == [GATEWAY_API], "asked once, and not again"


def test_a_cluster_that_does_not_answer_is_left_to_the_check_before(tmp_path: Path) -> None:
    with cluster({}) as (port, _):
        pass
    assert unserved(settings(tmp_path, port, ROUTE)) == []


def test_a_kubeconfig_that_cannot_be_read_is_left_to_the_check_before(tmp_path: Path) -> None:
    wanted = settings(tmp_path, 1, ROUTE)
    (tmp_path / "kubeconfig").write_text("token: [hush-hush")
    assert unserved(wanted) == []
