"""A workspace proxy behind an Ingress or a Gateway, on a cluster that serves HTTPRoute (W2)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import command, report_of
from tests.engine.prerequisites import provide
from tests.simulation import license_text, simulated

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("extended"),
    pytest.mark.usefixtures("impatient"),
]
NAME = "sydney-proxy"
SYDNEY: dict[str, Any] = {
    "name": "sydney",
    "accessUrl": "https://sydney.example.com",
    "wildcardAccessUrl": "*--apps.sydney.example.com",
    "healthTimeoutSeconds": 30,
}
HOSTS = ["sydney.example.com", "*.sydney.example.com"]
GUARDED: dict[str, Any] = {
    **SYDNEY,
    "tls": {"secretNames": ["sydney-tls"]},
    "ingress": {
        "tlsSecretName": "sydney-tls",
        "wildcardTlsSecretName": "sydney-tls",
        "wait": False,
    },
    "networkPolicy": {},
    "podDisruptionBudget": {},
}


@pytest.fixture
def stack(engine: Engine, extended_cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    with (
        simulated(licensed=True) as coderd,
        deployed(engine, extended_cluster, coderd, tmp_path, proxies=[SYDNEY]) as stack,
    ):
        stack.give("token", coderd.token)
        stack.give("licenseJwt", license_text())
        yield stack


def live(stack: Deployed, kind: str) -> dict[str, Any]:
    found = stack.project.cluster.get(stack.project.path(kind, NAME))
    assert found is not None, f"{kind} {NAME}"
    return found


def test_W2_a_proxy_is_exposed_repaired_and_laid_bare_again(stack: Deployed) -> None:
    stack.up()
    stack.configure(proxies=[GUARDED])
    said = stack.failure(stack.up)
    assert "proxies[0].tls.secretNames[0]" in said, "it is missing, and nothing was changed"
    provide(stack.project)
    stack.up()

    ingress = live(stack, "ingresses")["spec"]
    assert [rule["host"] for rule in ingress["rules"]] == HOSTS
    ports = {each["name"]: each["port"] for each in live(stack, "services")["spec"]["ports"]}
    assert ports == {"http": 80, "https": 443}
    (container,) = live(stack, "deployments")["spec"]["template"]["spec"]["containers"]
    assert {"name": "CODER_TLS_ENABLE", "value": "true"} in container["env"]
    assert stack.unmet() == []
    assert stack.preview(refresh=True).changes == []

    stack.project.cluster.delete(stack.project.path("ingresses", NAME))
    (drift,) = stack.preview(refresh=True).of_kind("Ingress")
    assert drift.op == "create"
    stack.up(refresh=True)
    assert live(stack, "ingresses")["spec"] == ingress

    stack.configure(proxies=[SYDNEY])
    stack.up()
    assert stack.project.cluster.names(stack.project.path("ingresses")) == []
    assert stack.unmet() == []


def test_W2_a_proxy_has_a_route_and_metrics_of_custom_kinds(stack: Deployed) -> None:
    route = {"parentRefs": [{"name": "edge", "namespace": "gateways"}]}
    monitor = {"labels": {"release": "prometheus"}}
    stack.configure(proxies=[{**SYDNEY, "httpRoute": route, "serviceMonitor": monitor}])
    stack.up()
    assert live(stack, "httproutes")["spec"]["hostnames"] == HOSTS
    assert live(stack, "servicemonitors")["metadata"]["labels"]["release"] == "prometheus"
    ports = {each["name"]: each["port"] for each in live(stack, "services")["spec"]["ports"]}
    assert ports == {"http": 80, "metrics": 2112}
    assert stack.unmet() == []
    assert stack.preview(refresh=True).changes == []


def test_W2_where_coderd_does_not_reach_the_proxy_its_own_words_are_shown(stack: Deployed) -> None:
    stack.up()
    (row,) = stack.coderd.state.records.proxies.values()
    row.unreachable = "dial tcp: lookup sydney.example.com on 10.96.0.10:53: no such host"
    stack.refresh()

    words = f'request to proxy failed: Get "{row.url}/healthz-report": {row.unreachable}'
    outputs = stack.project.details()
    assert stack.unmet() == ["proxy/sydney ProxyHealthy Unreachable", "stack Ready Unreachable"]
    (condition,) = [each for each in outputs["conditions"] if each["type"] == "ProxyHealthy"]
    assert condition["message"] == f"Coderd reports the proxy as unreachable: {words}"
    assert outputs["proxies"][0]["report"] == words

    _, report = report_of(stack, "drift")
    assert report["resources"] == [], "health is no drift"
    assert report["proxies"] == [
        {"name": "sydney", "health": "unreachable", "version": row.version, "report": words}
    ]
    assert words in " ".join(command(stack, "status").stdout.split())
