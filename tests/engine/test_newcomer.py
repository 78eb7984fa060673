"""What somebody with a fresh clone types, in order, and what they see."""

import json
from pathlib import Path

import pytest

from sandbox.breakage import BREAKAGES
from tests.engine.clone import Clone
from tests.processes import processes_in

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]


# What `make up` is about: each of them holds only if the parts inside the pods really work.
WHOLE = {
    ("operator", "LicenseApplied", "True"),
    ("provisioner/eu", "DaemonsConnected", "True"),
    ("provisioner/ml", "DaemonsConnected", "True"),
    ("proxy/sydney", "ProxyHealthy", "True"),
}


def test_up_look_break_repair_down(clone: Clone, tmp_path: Path) -> None:
    production = tmp_path / "production"
    production.write_text("not to be touched")
    own = {"KUBECONFIG": str(production)}

    up = clone.run("sandbox", "up", **own)
    assert up.returncode == 0, up.stderr
    deployed = clone.run("sandbox", "deploy", **own)
    assert deployed.returncode == 0, deployed.stdout + deployed.stderr
    assert "http://coder.coder.svc.cluster.local:80" in deployed.stdout
    assert "premium" in deployed.stdout
    assert "make drift" in deployed.stdout
    assert "coder-stack sandbox exec -- coder-stack admin password" in deployed.stdout
    shown = clone.run("sandbox", "exec", "--", "coder-stack", "admin", "password", **own)
    assert shown.stdout == "Sandbox-Owner-Password-1\n", shown.stderr
    assert clone.conditions() >= WHOLE
    assert {status for _, _, status in clone.conditions()} == {"True"}

    status = clone.run("sandbox", "status", "--json", **own)
    assert status.returncode == 0
    assert json.loads(status.stdout)["ready"] is True
    kubeconfig = clone.run("sandbox", "kubeconfig", **own).stdout.strip()
    assert kubeconfig == json.loads(status.stdout)["kubeconfig"]

    unknown = clone.run("sandbox", "exec", "--", "no-such-program", **own)
    assert unknown.returncode == 1
    assert unknown.stderr.strip() == "error: there is no program 'no-such-program' on PATH"
    looked = clone.run("sandbox", "exec", "--", "kubectl", "get", "deployments", "-A", **own)
    assert "eu-provisioner" in looked.stdout, looked.stderr

    clean = clone.run(*preview(), "--expect-no-changes", **own)
    assert clean.returncode == 0, clean.stdout + clean.stderr

    broken = clone.run("sandbox", "break", "image", **own)
    assert broken.returncode == 0, broken.stderr
    drifted = clone.run(*preview(), "--expect-no-changes", **own)
    assert drifted.returncode != 0
    assert '"example.invalid/evil:1" => "ghcr.io/coder/coder:v2.30.0"' in drifted.stdout

    deleted = clone.run("sandbox", "break", "key", **own)
    assert deleted.returncode == 0, deleted.stderr
    drifted = clone.run(*preview(), "--expect-no-changes", **own)
    assert "coder:ProvisionerKey" in drifted.stdout

    again = clone.run("sandbox", "deploy", **own)
    assert again.returncode == 0, again.stdout + again.stderr
    assert {status for _, _, status in clone.conditions()} == {"True"}
    repaired = clone.run(*preview(), "--expect-no-changes", **own)
    assert repaired.returncode == 0, repaired.stdout + repaired.stderr

    down = clone.run("sandbox", "down", **own)
    assert down.returncode == 0
    assert processes_in(clone.folder) == []
    assert not (clone.folder / ".sandbox").exists()
    assert production.read_text() == "not to be touched"


def preview() -> list[str]:
    pulumi = ["pulumi", "preview", "--stack", "sandbox", "--refresh", "--run-program", "--diff"]
    return ["sandbox", "exec", "--", *pulumi, "--non-interactive", "--color", "never"]


def test_deploy_without_a_cluster_says_what_to_do_first(clone: Clone) -> None:
    refused = clone.run("sandbox", "deploy")
    assert refused.returncode == 1
    assert refused.stderr.strip() == (
        "error: the sandbox's cluster is not up; start it with: coder-stack sandbox up"
    )


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("image", "`break` works only on the sandbox's own cluster, which is not up"),
        ("luck", f"there is no breakage 'luck'; there are: {', '.join(BREAKAGES)}"),
    ],
)
def test_what_cannot_be_broken_is_one_sentence(clone: Clone, what: str, said: str) -> None:
    refused = clone.run("sandbox", "break", what)
    assert refused.returncode == 1
    assert refused.stderr.strip() == f"error: {said}"


@pytest.mark.parametrize("command", ["drift", "reconcile"])
def test_F6_a_stopped_sandbox_says_how_to_start_it(clone: Clone, command: str) -> None:
    """What `make drift` and `make reconcile` run."""
    refused = clone.run("sandbox", "exec", "--", "coder-stack", command)
    assert refused.returncode == 1
    assert refused.stderr.strip() == "error: the sandbox is not up; start it with: make up"
