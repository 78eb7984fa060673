"""Which program a pod runs, and with which environment."""

from typing import Any

import pytest

from sandbox.pods.container import (
    FromSecret,
    Program,
    coderd_version,
    containers,
    serves_coderd,
)
from tests.unit.pods.manifests import coderd, daemon, pod


def test_programs_are_known_by_their_first_arguments() -> None:
    pods = [
        daemon("eu-1"),
        pod("wsproxy", "server", "--verbose", name="sydney-1"),
        coderd("coder-1"),
        pod("provisionerd", name="half-1"),
        pod(name="somebody-else-1"),
    ]
    simulate_pods = {each.pod: each.program for each in containers(pods).values()}
    assert simulate_pods == {
        "eu-1": Program.DAEMON,
        "sydney-1": Program.PROXY,
        "coder-1": Program.CODERD,
    }


@pytest.mark.parametrize("state", [{"phase": "Pending"}, {"phase": "Failed"}, {"ending": True}])
def test_a_pod_that_does_not_run_has_no_program(state: dict[str, object]) -> None:
    assert containers([daemon(**state)]) == {}


def test_the_environment_is_the_kubelets() -> None:
    reference = {"name": "eu", "key": "key", "optional": True}
    env = [
        {"name": "PLAIN", "value": "first"},
        {"name": "EMPTY"},
        {"name": "SECRET", "valueFrom": {"secretKeyRef": reference}},
        {"name": "OWN", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "ADDRESS", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "NOWHERE", "valueFrom": {"fieldRef": {"fieldPath": "spec.no.such"}}},
        {"name": "PLAIN", "value": "last"},
    ]
    (only,) = containers([daemon(env=env)]).values()
    assert only.env == {
        "PLAIN": "last",
        "EMPTY": "",
        "SECRET": FromSecret("eu", "key", optional=True),
        "OWN": "eu-1",
        "ADDRESS": "10.0.0.7",
        "NOWHERE": "",
    }


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("ghcr.io/coder/coder:v2.30.0", "v2.30.0"),
        ("registry.example.com:5000/coder:2.29.1", "v2.29.1"),
        ("registry.example.com:5000/coder", ""),
        ("ghcr.io/coder/coder:v2.30.0@sha256:0123", "v2.30.0"),
        ("ghcr.io/coder/coder@sha256:0123", ""),
        ("ghcr.io/coder/coder:latest", ""),
    ],
)
def test_the_version_is_the_images_tag(image: str, version: str) -> None:
    (only,) = containers([daemon(image=image)]).values()
    assert only.version == version


def test_only_coderds_own_port_of_a_running_pod_leads_to_coderd() -> None:
    assert serves_coderd(coderd(), 8080)
    assert not serves_coderd(coderd(), 8443)
    assert not serves_coderd(coderd(phase="Pending"), 8080)
    assert not serves_coderd(coderd(ending=True), 8080)
    assert serves_coderd(coderd(labels={"app.kubernetes.io/managed-by": "Helm"}), 8080)
    assert not serves_coderd(daemon(ports=[{"name": "http", "containerPort": 8080}]), 8080)


def test_V2_coderds_version_is_that_of_its_newest_running_pod() -> None:
    def at(tag: str, created: str, **more: str) -> dict[str, Any]:
        made = coderd(f"coder-{created}", image=f"ghcr.io/coder/coder:{tag}", **more)
        made["metadata"]["creationTimestamp"] = f"2026-01-01T00:00:0{created}Z"
        return made

    old, new = at("v2.30.0", "1"), at("v2.31.0", "2")
    assert coderd_version([new, old, daemon()]) == "v2.31.0"
    assert coderd_version([old, at("v2.31.0", "2", phase="Pending")]) == "v2.30.0"
    assert coderd_version([at("latest", "3")]) == ""
    assert coderd_version([daemon()]) == ""
