"""`coder-stack drift` on a real engine: each sign of drift is named, nothing written (D2)."""

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coder_stack.operate.report.model import Report
from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.drifting import Drifting, drifting
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine
KEYS = ("gone", "tagged", "reissued", "emptied", "unkept")
PROXIES = ("removed", "renamed", "exposed")


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Drifting]:
    with (
        simulated() as coderd,
        drifting(engine, cluster, coderd, tmp_path, keys=KEYS, proxies=PROXIES) as stack,
    ):
        yield stack


@pytest.fixture
def small(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Drifting]:
    with simulated() as coderd, drifting(engine, cluster, coderd, tmp_path) as stack:
        yield stack


def break_everything(stack: Drifting) -> None:
    """One thing of each sort, behind Pulumi's back."""
    cluster, path = stack.project.cluster, stack.project.path
    other = base64.b64encode(b"not-what-coderd-knows").decode()
    coderd = stack.coderd
    organization = "/api/v2/organizations/coder"
    coderd.act("DELETE", f"{organization}/provisionerkeys/{stack.key('gone').name}")
    stack.key("tagged").tags = {"region": "us"}
    stack.key("reissued").secret_hash = hashlib.sha256(b"another").hexdigest()
    cluster.patch(path("secrets", "emptied-provisioner-key"), {"data": {"key": other}})
    cluster.delete(path("secrets", "unkept-provisioner-key"))
    cluster.patch(path("secrets", "exposed-proxy-token"), {"data": {"token": other}})
    coderd.act("DELETE", "/api/v2/workspaceproxies/removed")
    for proxy in coderd.state.records.proxies.values():
        if proxy.name == "renamed":
            proxy.display_name = "Elsewhere"
    coderd.lose_licenses()
    coderd.act("POST", "/api/v2/licenses", {"license": license_text()})
    container = {"name": "coder", "image": "example.invalid/evil:1"}
    pods = {"template": {"spec": {"containers": [container]}}}
    cluster.patch(path("deployments", "coder"), {"spec": {"replicas": 3, **pods}})
    cluster.delete(path("serviceaccounts", "coder"))


def by_name(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What counts, by the resource's name."""
    Report.model_validate(report)
    return {each["name"]: each for each in report["resources"] if each["ignored_by"] is None}


def test_D2_a_stack_as_it_was_left_is_clean(stack: Drifting) -> None:
    before = stack.files()
    code, report = stack.report("drift")
    assert (code, report["result"], report["resources"]) == (0, "clean", [])
    assert stack.files() == before


def test_D2_K3_W1_every_sign_of_drift_has_its_cause_and_property(stack: Drifting) -> None:
    names = {name: stack.key(name).name for name in KEYS}
    stack.rules(
        ignore=[
            {
                "resource": "*:Deployment",
                "properties": ["spec.replicas"],
                "reason": "the autoscaler's",
                "until": "2999-01-31",
            },
            {"resource": "*:Secret", "reason": "a migration", "until": "2020-01-31"},
        ]
    )
    break_everything(stack)
    before = stack.files()

    code, report = stack.report("drift")

    assert code == 2
    assert stack.files() == before, "a look writes neither state nor config"
    found = by_name(report)
    assert {name: (each["kind"], each["cause"]) for name, each in found.items()} == {
        "gone-key": ("missing", f"Key `{names['gone']}` was deleted in coderd."),
        "tagged-key": ("replaced", f"Key `{names['tagged']}` has other tags in coderd."),
        "reissued-key": (
            "replaced",
            f"Coderd no longer accepts what the state holds as key `{names['reissued']}`.",
        ),
        "emptied-provisioner-key-secret": (
            "changed",
            "Secret `emptied-provisioner-key` no longer holds the key that coderd knows.",
        ),
        "unkept-provisioner-key-secret": (
            "missing",
            "Secret `unkept-provisioner-key` was deleted in the cluster.",
        ),
        "exposed-proxy-token-secret": (
            "changed",
            "Secret `exposed-proxy-token` no longer holds the token of its proxy.",
        ),
        "removed-registration": ("missing", "Proxy `removed` was deleted in coderd."),
        "renamed-registration": (
            "changed",
            "Proxy `renamed` has another display name in coderd.",
        ),
        "license": (
            "replaced",
            "The license was replaced: another license is active in coderd.",
        ),
        "plane-deployment": ("changed", "Deployment `coder` runs another image."),
        "plane-account": ("missing", "ServiceAccount `coder` was deleted in the cluster."),
    }
    assert found["tagged-key"]["properties"] == [
        {"path": "tags.region", "wanted": "eu", "recorded": "eu", "actual": "us", "secret": False}
    ]
    assert found["plane-deployment"]["properties"] == [
        {
            "path": "spec.template.spec.containers[0].image",
            "wanted": "ghcr.io/coder/coder:v2.30.0",
            "recorded": "ghcr.io/coder/coder:v2.30.0",
            "actual": "example.invalid/evil:1",
            "secret": False,
        }
    ]
    (bytes_,) = found["emptied-provisioner-key-secret"]["properties"]
    assert (bytes_["secret"], bytes_["recorded"], bytes_["actual"]) == (True, None, None)
    (ignored,) = [each for each in report["resources"] if each["ignored_by"] is not None]
    assert (ignored["ignored_by"], ignored["properties"][0]["actual"]) == ("the autoscaler's", "3")
    assert ignored["ignored_until"] == "2999-01-31"
    assert [rule["reason"] for rule in report["expired_rules"]] == ["a migration"]


def test_E2_a_lost_license_is_drift_of_license_and_entitlements(small: Drifting) -> None:
    small.coderd.lose_licenses()
    code, report = small.report("drift")
    assert code == 2
    causes = {name: each["cause"] for name, each in by_name(report).items()}
    assert causes["license"] == "The license was removed: coderd has none now."
    assert causes["entitlements"] == "Coderd has no license any more."


def test_U1_entitlements_that_cannot_be_read_are_unknown_not_lost(small: Drifting) -> None:
    small.coderd.refuse(403, "Forbidden.", "/api/v2/entitlements", count=-1)
    code, report = small.report("drift")
    assert code == 2
    entitlements = by_name(report)["entitlements"]
    assert entitlements["kind"] == "unknown"
    assert entitlements["cause"] == "What the license allows could not be read: Forbidden."


def test_D2_what_only_the_config_asks_for_is_told_apart_from_what_somebody_did(
    small: Drifting,
) -> None:
    small.set_config(keys='["us"]')
    code, report = small.report("drift")
    assert code == 2
    found = by_name(report)
    assert found["us-key"]["kind"] == "missing"
    assert found["us-key"]["cause"].endswith(
        "is declared in organization `coder`, but was not created yet."
    )
    assert (found["eu-key"]["kind"], found["eu-provisioner-key-secret"]["cause"]) == (
        "unexpected",
        "Secret `eu-provisioner-key` is still in the cluster, but no longer declared.",
    )


def test_D2_what_cannot_be_looked_at_is_an_error_of_one_sentence(small: Drifting) -> None:
    """Never drift: nothing is known. Each is one line on stderr or in the report."""
    expected = {
        "wrong passphrase": "The passphrase does not match the stack",
        "no such stack": "There is no stack `nobody` in this backend.",
        "locked": "Another update of the stack is running, held by ann@laptop (pid 4242)",
        "coderd": "ServerFault: operator access, read: Cannot ask coderd for its build",
        "rules": "The config's drift rules are wrong: drift.ignore[0].until",
        "config": "Missing required configuration variable 'coder-stack:url'",
    }
    said = {
        "wrong passphrase": small.command("drift", PULUMI_CONFIG_PASSPHRASE="wrong"),
        "no such stack": small.command("drift", "--stack", "nobody"),
    }
    lock = small.lock()
    said["locked"] = small.command("drift")
    lock.unlink()
    small.coderd.refuse(500, "An internal server error.", "/api/v2/buildinfo", count=-1)
    said["coderd"] = small.command("drift")
    small.coderd.peace()
    small.rules(ignore=[{"resource": "*", "reason": "x", "until": "some day"}])
    said["rules"] = small.command("drift")
    small.project.stack.remove_config("coder-stack:url")
    said["config"] = small.command("drift")

    for name, done in said.items():
        (line,) = [line for line in done.stdout.splitlines() if "error: " in line]
        assert done.returncode == 1, name
        assert expected[name] in line, name
        assert "    next: " in done.stdout, name
        assert "Traceback" not in done.stdout + done.stderr, name
