"""Drift, reconcile and status on the whole program: only what was done is named, nothing that
merely follows from it; and the report has the stack's conditions, license and keys (D2, D3, S1).
"""

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import command, report_of
from tests.simulation import license_text, simulated
from tests.waiting import eventually

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
FLEET: list[dict[str, Any]] = [
    {"name": "eu", "key": {"tags": {"region": "eu"}, "rotateAfterDays": 90}},
    {"name": "us", "key": {"tags": {"region": "us"}}},
]
PROXY = {"name": "sydney", "accessUrl": "https://sydney.example.com", "displayName": "Sydney"}


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """Everything there is, up. The operator made a token for itself."""
    with (
        simulated(fresh=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path, provisioners=FLEET, proxies=[PROXY]) as stack,
    ):
        stack.give("licenseJwt", license_text())
        stack.up()
        yield stack


def break_much(stack: Deployed) -> str:
    """A key, a Secret, a proxy and an image; the key's name."""
    cluster, path = stack.project.cluster, stack.project.path
    records = stack.coderd.state.records
    (key,) = [key for key in records.provisioner_keys.values() if key.name.startswith("eu-")]
    del records.provisioner_keys[key.id]
    other = base64.b64encode(b"not-what-coderd-knows").decode()
    cluster.patch(path("secrets", "us-provisioner-key"), {"data": {"key": other}})
    (proxy,) = records.proxies.values()
    proxy.display_name = "Elsewhere"
    container = {"name": "coder", "image": "example.invalid/evil:1"}
    pods = {"template": {"spec": {"containers": [container]}}}
    cluster.patch(path("deployments", "coder"), {"spec": pods})
    return key.name


def test_D1_D2_D3_S1_a_broken_stack_is_described_repaired_and_ready_again(stack: Deployed) -> None:
    assert report_of(stack, "drift")[0] == 0
    key = break_much(stack)

    code, report = report_of(stack, "drift")

    assert code == 2
    assert sorted(each["cause"] for each in report["resources"]) == [
        "Deployment `coder` runs another image.",
        f"Key `{key}` was deleted in coderd.",
        "Proxy `sydney` has another display name in coderd.",
        "Secret `us-provisioner-key` no longer holds the key that coderd knows.",
    ]
    assert report["conditions"]
    assert report["license"]["applied"] is True
    assert {each["provisioner"] for each in report["keys"]} == {"eu", "us"}

    code, report = report_of(stack, "reconcile")
    assert (code, report["result"], report["repaired"]) == (0, "clean", True)

    code, report = report_of(stack, "status")
    assert (code, report["result"], report["readiness"]) == (0, "recorded", "ready")
    (eu,) = [each for each in report["keys"] if each["provisioner"] == "eu"]
    assert (eu["rotate_after_days"], eu["daemons"]) == (90, 1)
    healthy = {"name": "sydney", "health": "ok", "version": "v2.30.0", "report": ""}
    assert report["proxies"] == [healthy]
    shown = command(stack, "status").stdout
    assert "not checked now, ready" in shown
    assert "stack Ready: True" in shown


@pytest.mark.parametrize(
    ("lost", "cause"),
    [
        ("token", "Coderd refuses the operator's token."),
        ("Secret", "The Secret with the operator's token is gone, or holds none."),
    ],
)
def test_CP10_D3_a_lost_token_is_named_and_made_again_before_the_rest_is_looked_at(
    stack: Deployed, lost: str, cause: str
) -> None:
    """Without it nothing in coderd can be seen: unknown, and never taken for gone."""
    records = stack.coderd.state.records
    if lost == "token":
        records.api_keys.clear()
    else:
        stack.project.cluster.delete(stack.project.path("secrets", "coder-operator"))
    records.provisioner_keys.clear()
    stack.coderd.forget_requests()

    code, report = report_of(stack, "drift")

    assert (code, report["result"]) == (1, "error")
    assert [each["cause"] for each in report["resources"]] == [cause]
    assert report["error"].startswith("SecretMissing: " if lost == "Secret" else "Forbidden: ")
    assert stack.coderd.requests("POST", "/api/v2/users") == [], "nobody has logged in"

    code, report = report_of(stack, "reconcile")

    assert (code, report["result"], report["repaired"]) == (0, "clean", True)
    assert len(stack.key_records()) == 2, "what is behind it is repaired as well"
    assert stack.unmet() == []


@contextmanager
def back_with_its_service(stack: Deployed) -> Iterator[None]:
    """Coderd cannot be reached until its Service is there again."""
    service = stack.project.path("services", "coder")
    stack.coderd.fault("drop_before", count=-1)

    def watch() -> None:
        if eventually(lambda: stack.project.cluster.get(service), 400):
            stack.coderd.peace()

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield
    watcher.join()


def test_D2_D3_what_keeps_coderd_out_of_reach_is_named_and_repaired_first(stack: Deployed) -> None:
    stack.project.cluster.delete(stack.project.path("services", "coder"))
    stack.coderd.state.records.provisioner_keys.clear()
    with back_with_its_service(stack):
        code, report = report_of(stack, "drift")
        assert (code, report["result"]) == (1, "error")
        assert report["error"].startswith("Unavailable: ")
        assert [each["cause"] for each in report["resources"]] == [
            "Service `coder` was deleted in the cluster."
        ]
        # A refresh that fails records what it had seen: the Service is gone from the state as well.
        _, failed = stack.project.attempt("refresh", "--yes", "--skip-preview")
        assert failed
        deployment = stack.project.path("deployments", "coder")
        stack.project.cluster.patch(deployment, {"spec": {"replicas": 0}})
        stack.coderd.state.records.api_keys.clear()  # what shows only once coderd is back

        code, report = report_of(stack, "reconcile")

    assert (code, report["result"], report["repaired"]) == (0, "clean", True)
    assert len(stack.key_records()) == 2, "what is behind it is repaired as well"
    assert stack.unmet() == []


def test_D2_B1_a_coderd_that_is_down_and_a_wrong_config_are_one_sentence(stack: Deployed) -> None:
    stack.coderd.fault("drop_before", count=-1)
    down = command(stack, "drift")
    stack.coderd.peace()
    stack.configure(provisioners=[{"name": "Not A Label", "replica": 1}])
    wrong = command(stack, "drift")

    for done, sentence in (
        (down, "error: Unavailable: "),
        (wrong, "error: 2 mistakes in the stack's config; nothing was changed: provisioners[0]"),
    ):
        assert done.returncode == 1
        (line,) = [line for line in done.stdout.splitlines() if "error: " in line]
        assert sentence in line
        assert "Traceback" not in done.stdout + done.stderr
