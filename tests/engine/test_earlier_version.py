"""A stack that an earlier version deployed is the present version's, without a change."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed
from tests.engine.drifting import report_of
from tests.engine.earlier import laid_out

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("earlier"),
    pytest.mark.usefixtures("impatient"),
]


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    with laid_out(engine, cluster, tmp_path) as stack:
        yield stack


def identities(stack: Deployed) -> set[str]:
    """Which pods and keys there are."""
    pods = stack.project.cluster.get(stack.project.path("pods"))
    assert pods is not None
    assert pods["items"]
    uids = {pod["metadata"]["uid"] for pod in pods["items"]}
    return uids | {key.id for key in stack.key_records()}


def lasting(outputs: dict[str, Any]) -> dict[str, Any]:
    """Return the outputs without what each run counts or times anew, or only one version has."""
    provisioners = [
        {
            name: value
            for name, value in each.items()
            if name not in ("keyAgeDays", "rotateAfterDays")
        }
        for each in outputs["provisioners"]
    ]
    license_ = {name: value for name, value in outputs["license"].items() if name != "warnDays"}
    kept = {name: value for name, value in outputs.items() if name != "settings"}
    return {
        **kept,
        "entitlementsCheckedAt": "",
        "license": license_,
        "provisioners": provisioners,
    }


def test_D1_D2_nothing_is_to_be_changed(stack: Deployed) -> None:
    before, outputs = identities(stack), lasting(stack.project.details())
    stack.coderd.forget_requests()

    assert stack.preview().changes == []
    code, report = report_of(stack, "drift")
    assert (code, report["result"], report["resources"]) == (0, "clean", [])
    assert stack.up().changes == []
    assert stack.preview(refresh=True).changes == []

    assert identities(stack) == before
    now = lasting(stack.project.details())
    assert {name: now[name] for name in outputs} == outputs
    new = {"accessUrl", "admin", "adminPassword", "organizations"}
    assert now.keys() - outputs.keys() == new
    asked = stack.coderd.requests(path="/api/v2")
    ours = [each for each in asked if "/workspaceproxies/me/" not in each]  # not the proxy's own
    assert {each.split(" ")[0] for each in ours} == {"GET"}
    assert stack.unmet() == []


def test_D2_D3_what_breaks_later_is_named_and_repaired(stack: Deployed) -> None:
    project, records = stack.project, stack.coderd.state.records
    (eu,) = stack.key_records("coder")
    del records.provisioner_keys[eu.id]
    (proxy,) = records.proxies.values()
    proxy.display_name = "Elsewhere"
    project.cluster.delete(project.path("secrets", "ml-provisioner-key"))
    container = {"name": "coder", "image": "example.invalid/evil:1"}
    pods = {"template": {"spec": {"containers": [container]}}}
    project.cluster.patch(project.path("deployments", "coder"), {"spec": pods})

    code, report = report_of(stack, "drift")
    assert code == 2
    assert sorted(each["cause"] for each in report["resources"]) == [
        "Deployment `coder` runs another image.",
        f"Key `{eu.name}` was deleted in coderd.",
        "Proxy `sydney` has another display name in coderd.",
        "Secret `ml-provisioner-key` was deleted in the cluster.",
    ]

    code, report = report_of(stack, "reconcile")
    assert (code, report["result"], report["repaired"]) == (0, "clean", True)
    assert stack.unmet() == []


def test_D1_destroy_leaves_nothing(stack: Deployed) -> None:
    stack.destroy()

    project, records = stack.project, stack.coderd.state.records
    assert project.cluster.get(f"/api/v1/namespaces/{project.namespace}") is None
    assert project.state().get("resources", []) == []
    assert stack.key_records() == []
    assert stack.coderd.license_ids() == []
    assert [proxy.name for proxy in records.proxies.values() if not proxy.deleted] == []
