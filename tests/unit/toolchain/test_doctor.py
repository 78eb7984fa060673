"""`coder-stack doctor`: what it shows, what it verifies, and when it fails."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from coder_stack.coderd.versions import TRIED as CODER_VERSIONS
from coder_stack.operate.engine.versions import TRIED, tried_range
from sandbox.toolchain import doctor
from sandbox.toolchain.platforms import this_platform
from tests.unit.toolchain.machines import NOBODY, Machine, executable
from tests.unit.toolchain.vendor_site import SCRIPT, serving, sha256

VERSIONS = {
    "pulumi": "v3.220.0",
    "etcd": "etcd Version: 3.6.8",
    "kube-apiserver": "Kubernetes v1.36.3",
    "kube-controller-manager": "Kubernetes v1.36.3",
    "kube-scheduler": "Kubernetes v1.36.3",
    "kubectl": "Client Version: v1.36.3",
    "pulumi-language-python": "",
    "pulumi-language-python-exec": "",
    "pulumi-resource-pulumi-python": "",
    "pulumi-analyzer-policy-python": "",
    "pulumi-resource-kubernetes": "",
}


@dataclass
class Doctor:
    """The command on a machine whose PATH holds nothing of the real one."""

    machine: Machine
    monkeypatch: pytest.MonkeyPatch
    releases: str = ""

    def __call__(self, *arguments: str) -> Result:
        self.monkeypatch.setenv("CODER_STACK_CACHE", str(self.machine.cache))
        self.monkeypatch.setenv("CODER_STACK_RELEASES", self.releases or NOBODY)
        self.monkeypatch.setenv("PATH", str(self.machine.bin))
        self.monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        root = typer.Typer()
        root.callback()(lambda: None)
        doctor.register(root)
        return CliRunner().invoke(root, ["doctor", *arguments])


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Doctor:
    return Doctor(Machine(tmp_path), monkeypatch)


def has_all_but_kwok(machine: Machine) -> None:
    for name, version in VERSIONS.items():
        machine.has(name, f"echo '{version}'")


def has_kwok_in_cache(machine: Machine) -> Path:
    """Kwok as a release leaves it in the cache."""
    folder = machine.cache / "tools" / "kwok" / f"0.8.0-{this_platform()}"
    (folder / "bin").mkdir(parents=True)
    binary = executable(folder / "bin" / "kwok", "true")
    recorded = {"size": binary.stat().st_size, "sha256": sha256(binary.read_bytes())}
    manifest = {
        "name": "kwok",
        "version": "0.8.0",
        "source": "release",
        "reason": "on PATH: not found",
        "executable": "bin/kwok",
        "files": {"bin/kwok": recorded},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return binary


def test_an_empty_machine_fails_with_the_next_step_and_stays_empty(run: Doctor) -> None:
    result = run()

    assert result.exit_code == 1
    assert (
        "error: pulumi, etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl"
        in (result.stderr)
    )
    assert "run `coder-stack doctor --install`" in result.stderr
    assert not run.machine.cache.exists()


def test_a_machine_that_has_all_it_needs_passes(run: Doctor) -> None:
    has_all_but_kwok(run.machine)
    binary = has_kwok_in_cache(run.machine)

    result = run()

    assert result.exit_code == 0, result.output
    assert str(binary) in result.stdout
    assert "only for the tests, see --install-all" in result.stdout
    assert f"cache {run.machine.cache}:" in result.stdout


def test_the_json_says_the_same(run: Doctor) -> None:
    has_all_but_kwok(run.machine)
    has_kwok_in_cache(run.machine)

    report = json.loads(run("--json").stdout)

    found = {finding["tool"]: finding for finding in report["findings"]}
    assert report["schema"] == 1
    assert report["problems"] == []
    assert report["free_bytes"] > 0
    assert found["etcd"] == {
        "tool": "etcd",
        "version": "3.6.8",
        "source": "path",
        "where": str(run.machine.bin / "etcd"),
        "why": "on PATH and new enough",
        "required": True,
        "damaged": False,
    }
    assert found["kwok"]["source"] == "release"
    assert found["coder"]["source"] == "missing"
    assert found["pulumi-resource-kubernetes"]["source"] == "official-path"
    assert found["go"]["source"] == "missing"


def test_V1_api_documents_are_missing_only_for_the_tests(run: Doctor) -> None:
    has_all_but_kwok(run.machine)
    has_kwok_in_cache(run.machine)

    report = json.loads(run("--json").stdout)

    (found,) = (each for each in report["findings"] if each["tool"] == "coder-api")
    assert (found["source"], found["required"]) == ("missing", False)
    assert found["version"] == f"{CODER_VERSIONS[0]} to {CODER_VERSIONS[-1]}"
    assert all(version in found["why"] for version in CODER_VERSIONS)


@pytest.mark.parametrize(("version", "remark"), [("v3.999.0", True), (TRIED[-1], False)])
def test_V3_it_states_the_engines_that_were_tried_and_remarks_on_a_newer_one(
    run: Doctor, version: str, remark: bool
) -> None:
    has_all_but_kwok(run.machine)
    has_kwok_in_cache(run.machine)
    run.machine.has("pulumi", f"echo {version}")

    shown, report = run(), json.loads(run("--json").stdout)

    assert shown.exit_code == 0, shown.output
    assert f"pulumi was tried in {', '.join(TRIED)}" in shown.stdout
    assert (f"this program was tried with {tried_range()}." in shown.stdout) is remark
    assert report["engines_tried"] == list(TRIED)


def test_a_changed_file_shows_only_when_files_are_read(run: Doctor) -> None:
    has_all_but_kwok(run.machine)
    binary = has_kwok_in_cache(run.machine)
    binary.write_bytes(binary.read_bytes().replace(b"true", b"evil"))

    assert run().exit_code == 0
    result = run("--verify")

    assert result.exit_code == 1
    assert "changed since it was installed: bin/kwok" in result.stdout
    assert "coder-stack doctor --verify --install" in result.stderr


def test_install_brings_what_is_missing_and_repairs_what_is_damaged(run: Doctor) -> None:
    has_all_but_kwok(run.machine)
    (run.machine.bin / "kube-scheduler").unlink()
    with serving() as site:
        run.releases = site.url
        here = this_platform()
        asset = f"/dl.k8s.io/release/v1.36.3/bin/{here.os}/{here.arch}/kube-scheduler"
        site.files |= {asset: SCRIPT, f"{asset}.sha256": sha256(SCRIPT).encode()}
        has_kwok_in_cache(run.machine)

        first = run("--install")
        installed = run.machine.cache / "tools" / "kube-scheduler" / f"1.36.3-{here}" / "bin"
        (installed / "kube-scheduler").write_bytes(SCRIPT.replace(b"real", b"evil"))
        second = run("--install", "--verify")

    assert first.exit_code == 0, first.output
    assert "kube-scheduler: 1.36.3 downloaded in" in first.stderr
    assert second.exit_code == 0, second.output
    assert (installed / "kube-scheduler").read_bytes() == SCRIPT


def test_an_install_that_fails_says_why_without_a_traceback(
    run: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_all_but_kwok(run.machine)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)

    result = run("--install")

    assert result.exit_code == 1
    assert result.stderr.splitlines()[-5] == "error: kwok 0.8.0 cannot be installed:"
    assert "Traceback" not in result.output
