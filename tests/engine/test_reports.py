"""Reports on the real engine say no more than was looked at, and all of that (R1, R2, R3)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import command, report_of
from tests.simulation import license_text, simulated

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
FLEET: list[dict[str, Any]] = [{"name": "eu", "key": {"tags": {"region": "eu"}}}]


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """One provisioner, not deployed yet; its license is in the config."""
    with (
        simulated(fresh=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path, provisioners=FLEET) as stack,
    ):
        stack.give("licenseJwt", license_text())
        yield stack


def conditions(report: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {
        f"{each['component']} {each['type']}": (each["status"], each["reason"])
        for each in report["conditions"]
    }


def break_key_and_image(stack: Deployed) -> str:
    """Delete the key in coderd and run another image; return the key's name."""
    (key,) = stack.key_records()
    del stack.coderd.state.records.provisioner_keys[key.id]
    container = {"name": "coder", "image": "example.invalid/evil:1"}
    pods = {"template": {"spec": {"containers": [container]}}}
    path = stack.project.path("deployments", "coder")
    stack.project.cluster.patch(path, {"spec": pods})
    return key.name


def written(stack: Deployed, tmp_path: Path, *words: str) -> dict[str, str]:
    """Run a command and return its text and files by format."""
    files = {name: tmp_path / f"report.{name}" for name in ("markdown", "html", "metrics")}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    done = command(stack, *words, *options)
    return {"text": done.stdout, **{name: file.read_text() for name, file in files.items()}}


def test_R1_R2_R3_a_broken_stack_from_status_to_repair(stack: Deployed, tmp_path: Path) -> None:
    stack.up()
    key = break_key_and_image(stack)

    code, report = report_of(stack, "status")
    assert (code, report["result"], report["readiness"]) == (0, "recorded", "ready")
    assert report["checked_at"] is None
    assert report["last_update"]["kind"] == "update"
    assert report["last_update"]["succeeded"] is True
    formats = written(stack, tmp_path, "status")
    for name in ("text", "markdown", "html"):
        assert "not checked now" in formats[name], name
        assert "As of the last update at" in formats[name], name
    assert "coder_stack_checked_at" not in formats["metrics"]
    assert "coder_stack_drift_result" not in formats["metrics"]

    code, live = report_of(stack, "status", "--live")
    assert (code, live["result"], live["readiness"]) == (2, "drift", "unknown")
    assert live["checked_at"] is not None

    code, report = report_of(stack, "drift")
    assert code == 2
    assert sorted(each["cause"] for each in report["resources"]) == [
        "Deployment `coder` runs another image.",
        f"Key `{key}` was deleted in coderd.",
    ]
    name = stack.project.stack.name
    for each in report["resources"]:
        assert each["next_step"]["command"] == f"coder-stack reconcile --stack {name}"
    (image,) = [e for r in report["resources"] for e in r["properties"]]
    assert (image["wanted"], image["recorded"], image["actual"]) == (
        "ghcr.io/coder/coder:v2.30.0",
        "ghcr.io/coder/coder:v2.30.0",
        "example.invalid/evil:1",
    )
    seen = conditions(report)
    assert seen["provisioner/eu ProvisionerKeyReady"] != ("True", "Issued")
    assert seen["controlPlane ControlPlaneReady"] == ("Unknown", "Drifted")
    assert seen["operator LicenseApplied"] == ("True", "Applied")
    assert seen["stack Ready"][0] != "True"

    code, report = report_of(stack, "reconcile")
    assert (code, report["result"], report["resources"]) == (0, "clean", [])
    assert {each["cause"] for each in report["repairs"]} >= {
        "Deployment `coder` runs another image.",
        f"Key `{key}` was deleted in coderd.",
    }
    assert report["readiness"] == "ready"


def test_R1_a_stack_that_is_not_ready_is_clean(stack: Deployed, tmp_path: Path) -> None:
    stack.project.stack.remove_config("coder-stack:licenseJwt")
    stack.up()
    code, report = report_of(stack, "drift")
    assert (code, report["result"], report["readiness"]) == (0, "clean", "not ready")
    formats = written(stack, tmp_path, "drift")
    for name in ("markdown", "html"):
        assert "not ready" in formats[name].lower(), name
        assert "drifted" not in formats[name], name
    assert report_of(stack, "status")[0] == 2


def test_R3_a_change_of_the_config_is_wanted_and_neither_recorded_nor_actual(
    stack: Deployed,
) -> None:
    stack.up()
    stack.configure(provisioners=[{**FLEET[0], "replicas": 2}])
    code, report = report_of(stack, "drift")
    assert code == 2
    (found,) = report["resources"]
    assert (found["name"], found["origin"]) == ("coder-provisioner-eu-deployment", "plan")
    assert found["next_step"]["command"].startswith("pulumi up --stack ")
    (replicas,) = [each for each in found["properties"] if each["path"] == "spec.replicas"]
    assert (replicas["wanted"], replicas["recorded"], replicas["actual"]) == ("2", "1", "1")
    assert "not applied yet" in command(stack, "drift").stdout


def test_D3_R2_a_destroyed_stack_stays_destroyed_until_it_is_allowed(stack: Deployed) -> None:
    """The first look also shows a stack that was never deployed: nothing of it is blamed."""
    code, report = report_of(stack, "drift")
    assert code == 2
    assert {(each["kind"], each["origin"]) for each in report["resources"]} == {("missing", "plan")}
    causes = {each["name"]: each["cause"] for each in report["resources"]}
    assert causes["coder-operator-access"] == "The operator's access to coderd was not created yet."
    stack.up()
    stack.destroy()
    before = stack.coderd.state.records.provisioner_keys

    code, report = report_of(stack, "reconcile")

    assert (code, report["result"], report["repaired"]) == (2, "drift", False)
    assert report["refused"] == (
        "Not repaired: the stack has no resources; it was destroyed, or never deployed."
    )
    assert "--max-creates " in report["refused_next_step"]["command"]
    assert {each["left_because"] for each in report["resources"]} == {
        "The repair exceeds the limits."
    }
    assert before == {}
    assert stack.project.cluster.get(stack.project.path("deployments", "coder")) is None
    text = command(stack, "reconcile").stdout
    assert "resources are declared, but were not created yet." in text
    assert len(text.splitlines()) < 12, "one group, not one line per resource"

    code, report = report_of(stack, "reconcile", "--max-creates", "100")
    assert (code, report["result"]) == (0, "clean")
    assert stack.key_records()


def test_R2_a_coderd_that_is_scaled_to_zero_has_the_right_next_step(stack: Deployed) -> None:
    stack.up()
    stack.coderd.fault("drop_before", count=-1)
    deployment = stack.project.path("deployments", "coder")
    stack.project.cluster.patch(deployment, {"spec": {"replicas": 0}})
    code, report = report_of(stack, "drift")
    assert (code, report["result"]) == (1, "error")
    assert [each["cause"] for each in report["resources"]] == ["Deployment `coder` is scaled to 0."]
    assert report["resources"][0]["next_step"]["command"].startswith("coder-stack reconcile")
    assert report["error_next_step"]["command"].startswith("coder-stack reconcile")
    assert "ompared only in part" in command(stack, "status", "--live").stdout
    stack.coderd.peace()
