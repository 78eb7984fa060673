"""Somebody is killed with -9 around each call that changes coderd or a credential (X1).

One stack goes through its whole life: deployed, given a proxy, another license, another key,
another proxy token, destroyed. Each step is repeated until it gets through. However often it was
killed, nothing may be lost, doubled or shown in plain text. The table is printed after the run.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.coderd.rules.identifiers import hashed
from sandbox.engine import Engine
from tests.cluster_access import OwnCluster
from tests.engine.crashing import VICTIMS, Crashes, crashing, table
from tests.reports import keep_for_the_summary
from tests.simulation import license_text
from tests.tripwire import Call
from tests.waiting import eventually

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("mortal"),
    pytest.mark.timeout(3000),
]
A, B = license_text(days=300), license_text(days=200)
FEWEST_POINTS = 30


def holds_a_credential(call: Call) -> bool:
    """Everything in coderd, and the Secrets that carry what coderd gave out."""
    return call.server == "coderd" or call.object.startswith("/secrets/")


def settings(rotation: str = "1", proxy: str = "") -> dict[str, Any]:
    eu = {"name": "eu", "organization": "coder", "key": {"rotation": rotation}}
    sydney = {"name": "sydney", "accessUrl": "https://sydney.example.com", "rotation": proxy}
    return {"provisioners": [eu], "proxies": [sydney] if proxy else []}


def live_keys(crashes: Crashes) -> list[Any]:
    reserved = {"built-in", "user-auth", "psk"}
    keys = crashes.coderd.records.provisioner_keys.values()
    return [key for key in keys if key.name not in reserved]


def assert_no_gap(crashes: Crashes) -> None:
    """Right after a kill: what pods hold still opens coderd, and coderd has a license of ours."""
    hashes = [key.secret_hash for key in live_keys(crashes)]
    assert hashed(crashes.stack.written()) in hashes, "pods are on a dead key"
    licenses = [each.jwt for each in crashes.coderd.records.licenses.values()]
    assert set(licenses) & {A, B}, "coderd has no license of ours"


def assert_converged(crashes: Crashes, license_: str, *, proxies: int) -> None:
    """One of each, all of them in use, and every condition holds."""
    assert crashes.stack.unmet() == []
    records = crashes.coderd.records
    (key,) = live_keys(crashes)
    material = crashes.stack.written()
    assert key.secret_hash == hashed(material)
    checksum = hashlib.sha256(material.encode()).hexdigest()
    pods = crashes.stack.pods("eu-provisioner")
    assert pods
    assert {each["metadata"]["annotations"]["checksum/secret"] for each in pods} == {checksum}
    assert [each.jwt for each in records.licenses.values()] == [license_]
    assert len([each for each in records.proxies.values() if not each.deleted]) == proxies
    assert len(tokens(crashes)) == 1
    assert [user.username for user in records.users.values()] == ["admin"]


def tokens(crashes: Crashes) -> list[str]:
    keys = crashes.coderd.records.api_keys.values()
    return [key.token_name for key in keys if key.login_type == "token"]


def unready_endpoints(crashes: Crashes) -> list[str]:
    """Pods that a Service does not list as ready; slices lag behind a restarted API server."""
    project = crashes.stack.project
    path = f"/apis/discovery.k8s.io/v1/namespaces/{project.namespace}/endpointslices"
    listed = project.cluster.get(path)
    assert listed is not None
    endpoints = [each for item in listed["items"] for each in item.get("endpoints") or []]
    return [str(each["targetRef"]["name"]) for each in endpoints if not each["conditions"]["ready"]]


def live_and_die(crashes: Crashes) -> None:
    """The whole life of the stack, each step killed at every point."""
    crashes.stack.give("licenseJwt", A)
    crashes.survive("first up", "up")
    assert_converged(crashes, A, proxies=0)
    crashes.check = assert_no_gap
    crashes.stack.configure(**settings(proxy="1"))
    crashes.survive("add a proxy", "up")
    assert_converged(crashes, A, proxies=1)
    crashes.stack.give("licenseJwt", B)
    crashes.survive("another license", "up")
    assert_converged(crashes, B, proxies=1)
    crashes.stack.configure(**settings(rotation="2", proxy="1"))
    crashes.survive("rotate the key", "up")
    assert_converged(crashes, B, proxies=1)
    crashes.stack.configure(**settings(rotation="2", proxy="2"))
    crashes.survive("rotate the proxy's token", "up")
    assert_converged(crashes, B, proxies=1)
    assert eventually(lambda: unready_endpoints(crashes) == [], 120)
    looked = crashes.stack.preview(refresh=True)
    assert looked.changes == [], looked.text
    crashes.check = lambda _crashes: None
    # A destroy does not wait for a coderd that is gone for good: it warns and goes on (K6).
    crashes.coderd_comes_back = True
    crashes.survive("destroy", "destroy")
    records = crashes.coderd.records
    assert live_keys(crashes) == []
    assert list(records.licenses) == []
    assert [each.name for each in records.proxies.values() if not each.deleted] == []
    assert tokens(crashes) == []
    assert crashes.stack.project.state().get("resources", []) == []


@pytest.fixture
def crashes(engine: Engine, mortal_cluster: OwnCluster, tmp_path: Path) -> Iterator[Crashes]:
    with crashing(
        engine, mortal_cluster, tmp_path, counts=holds_a_credential, **settings()
    ) as crashes:
        yield crashes


def test_X1_killed_at_any_mutating_call_the_next_run_converges(crashes: Crashes) -> None:
    try:
        live_and_die(crashes)
    finally:
        keep_for_the_summary("crashes", table(crashes.points))
    assert len(crashes.points) >= FEWEST_POINTS
    assert {point.victim for point in crashes.points} == set(VICTIMS)
