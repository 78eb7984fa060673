"""What somebody with a fresh clone types, in order, and what they see."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.breakage import BREAKAGES
from sandbox.cluster import stop_after_process
from sandbox.paths import CHECKOUT, SandboxPaths
from tests.processes import processes_in

pytestmark = pytest.mark.engine


# What `make up` is about: each of them holds only if the parts inside the pods really work.
WHOLE = {
    ("operator", "LicenseApplied", "True"),
    ("provisioner/eu", "DaemonsConnected", "True"),
    ("provisioner/ml", "DaemonsConnected", "True"),
    ("proxy/sydney", "ProxyHealthy", "True"),
}


class Clone:
    """A copy of the checkout's own files, with commands run as `make` runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        files = subprocess.check_output(listed, cwd=CHECKOUT, text=True)
        for name in filter(None, files.split("\0")):
            if (CHECKOUT / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(CHECKOUT / name, folder / name)
        (folder / ".venv").symlink_to(CHECKOUT / ".venv")

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """`coder-stack …` in the clone. PYTHONPATH puts the clone before the checkout."""
        unset = ("CODER_STACK_KUBECONFIG", "CI")
        environment = {k: v for k, v in os.environ.items() if k not in unset}
        environment |= {"PYTHONPATH": str(self.folder), **variables}
        return subprocess.run(
            [sys.executable, "-m", "coder_stack.cli", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def conditions(self) -> set[tuple[str, str, str]]:
        """Component, condition and status, as the stack exports them."""
        outputs = ["pulumi", "stack", "output", "conditions", "--json", "--stack", "sandbox"]
        shown = self.run("sandbox", "exec", "--", *outputs)
        assert shown.returncode == 0, shown.stderr
        return {(c["component"], c["type"], c["status"]) for c in json.loads(shown.stdout)}


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Clone]:
    folder = tmp_path / "clone"
    folder.mkdir()
    clone = Clone(folder)
    home = SandboxPaths(folder / ".sandbox")
    # The guard of a run that is killed; it ends when this folder does.
    home.folder.mkdir()
    stop_after_process(home, os.getpid())
    yield clone
    clone.run("sandbox", "down")
    assert processes_in(clone.folder) == []


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
    assert clone.conditions() >= WHOLE
    assert {status for _, _, status in clone.conditions()} == {"True"}

    status = clone.run("sandbox", "status", "--json", **own)
    assert status.returncode == 0
    assert json.loads(status.stdout)["ready"] is True
    kubeconfig = clone.run("sandbox", "kubeconfig", **own).stdout.strip()
    assert kubeconfig == json.loads(status.stdout)["kubeconfig"]

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


def test_exec_of_an_unknown_program_is_one_sentence(clone: Clone) -> None:
    refused = clone.run("sandbox", "exec", "--", "no-such-program")
    assert refused.returncode == 1
    assert refused.stderr.strip() == "error: there is no program 'no-such-program' on PATH"
