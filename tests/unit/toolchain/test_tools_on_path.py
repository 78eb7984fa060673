"""Tools that a machine already has: taken if new enough, passed over with a reason if not."""

import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from sandbox.toolchain.catalogue import CATALOGUE, CHECKS, CLUSTER, CONTRACT, ENGINE
from sandbox.toolchain.errors import SourceUnavailable, ToolchainError
from sandbox.toolchain.on_path import find_on_path
from sandbox.toolchain.recipes import VersionProbe, parse_version
from tests.unit.toolchain.machines import NOBODY, Machine, executable
from tests.unit.toolchain.vendor_site import serving, sha256

ANSWERS = {
    "pulumi": "v3.220.0",
    "etcd": "etcd Version: 3.6.8\nGit SHA: abc\nGo Version: go1.26.8",
    "kube-apiserver": "Kubernetes v1.36.3",
    "kube-controller-manager": "Kubernetes v1.36.0",
    "kube-scheduler": "Kubernetes v1.36.12",
}
TOO_OLD = {
    "pulumi": ("v3.219.9", "3.219.9", "3.220.0"),
    "etcd": ("etcd Version: 3.5.21", "3.5.21", "3.6.0"),
    "kube-apiserver": ("Kubernetes v1.35.7", "1.35.7", "1.36.0"),
    "kwok": ("kwok version v0.7.0 go1.24 (linux/amd64)", "0.7.0", "0.8.0"),
}
PROBE = VersionProbe(arguments=("--version",), at_least=(1, 2, 3), below=(2, 0, 0))


def says(text: str) -> str:
    return "\n".join(f"echo '{line}'" for line in text.splitlines())


def with_engine_files(machine: Machine) -> None:
    beside = CATALOGUE["pulumi"].probe
    assert beside is not None
    for name in beside.beside:
        machine.has(name, "true")


@pytest.mark.parametrize("name", ANSWERS)
def test_a_tool_that_is_new_enough_is_used_where_it_is(name: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with_engine_files(machine)
    where = machine.has(name, says(ANSWERS[name]))

    found = machine.toolchain().find(name)

    assert found is not None
    assert (found.source, found.path, found.reason) == ("path", where, "on PATH and new enough")
    assert found.version in ANSWERS[name]
    assert machine.toolchain().ensure([name]) == {name: found}
    assert not machine.cache.exists(), "a machine that has everything gets no cache"


@pytest.mark.parametrize("name", TOO_OLD)
def test_a_tool_that_is_too_old_is_named_with_the_version_found(name: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path, offline=True, free=0)
    answer, version, needed = TOO_OLD[name]
    where = machine.has(name, says(answer))
    probe = CATALOGUE[name].probe
    assert probe is not None

    with pytest.raises(SourceUnavailable) as caught:
        find_on_path(name, probe, path=str(machine.bin))

    assert str(caught.value) == f"{where} is {version}, too old: {needed} or newer is needed"
    assert machine.toolchain().find(name) is None


def test_kubernetes_of_the_next_minor_release_does_not_fit_the_others(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.has("kube-scheduler", says("Kubernetes v1.37.0"))

    assert machine.toolchain().find("kube-scheduler") is None


def test_an_engine_without_its_language_host_is_not_taken(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.has("pulumi", says("v3.230.1"))
    probe = CATALOGUE["pulumi"].probe
    assert probe is not None

    with pytest.raises(SourceUnavailable, match="has no pulumi-language-python beside it"):
        find_on_path("pulumi", probe, path=str(machine.bin))


def test_a_tool_that_hangs_is_given_up_on_with_its_children(tmp_path: Path) -> None:
    executable(tmp_path / "slow", f"sleep 300 & echo $! > {tmp_path}/child; wait")

    started = time.monotonic()
    with pytest.raises(
        SourceUnavailable, match=r"does not tell its version \(no answer within 0.3 s\)"
    ):
        find_on_path("slow", PROBE, path=str(tmp_path), seconds=0.3)
    took_first = time.monotonic() - started
    with pytest.raises(SourceUnavailable):
        find_on_path("slow", PROBE, path=str(tmp_path), seconds=60)

    assert time.monotonic() - started < took_first + 5, "the second look does not wait again"
    child = int((tmp_path / "child").read_text())
    if psutil.pid_exists(child):
        psutil.Process(child).wait(timeout=10)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo hello there", "exit code 0"),
        ("echo 1.2.3; exit 7", "exit code 7"),
        ("echo 'version 9' >&2", "exit code 0"),
        ("printf '\\377\\376'", "exit code 0"),
    ],
)
def test_a_tool_that_answers_garbage_is_not_taken(script: str, reason: str, tmp_path: Path) -> None:
    executable(tmp_path / "odd", script)

    with pytest.raises(SourceUnavailable, match=reason):
        find_on_path("odd", PROBE, path=str(tmp_path))


def test_a_file_that_cannot_be_run_is_not_taken(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF but not really")
    broken.chmod(0o755)

    with pytest.raises(SourceUnavailable, match=r"broken cannot be run \(Exec format error\)"):
        find_on_path("broken", PROBE, path=str(tmp_path))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("go version go1.26 linux/amd64", (1, 26, 0)),
        ("go version go1.26.8 linux/amd64", (1, 26, 8)),
        ("v3.220.0-alpha.1", (3, 220, 0)),
        ("no version here", None),
    ],
)
def test_versions_are_found_in_what_tools_print(
    text: str, version: tuple[int, int, int] | None
) -> None:
    assert parse_version(text) == version


def test_the_contract_servers_are_not_taken_from_path(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.has("coder", says("Coder v2.26.0"))

    assert machine.toolchain().find("coder") is None


def test_an_unknown_tool_is_said_to_be_unknown(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="There is no tool named helm; there are pulumi, etcd"):
        Machine(tmp_path).toolchain().ensure(["helm"])


def test_a_cache_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.cache.write_text("a file where the folder should be")

    with pytest.raises(ToolchainError) as caught:
        machine.toolchain().ensure(["etcd"])

    assert str(caught.value) == f"Tools cannot be installed into {machine.cache}: File exists."


def test_the_groups_name_what_the_catalogue_has() -> None:
    assert {*ENGINE, *CLUSTER, *CONTRACT, *CHECKS} == set(CATALOGUE)


class TestKwokOnPath:
    """KWOK needs its stages beside it, which no package manager puts there."""

    def test_it_is_linked_beside_stages_from_the_release(self, tmp_path: Path) -> None:
        content = b"---\n".join(b"kind: Stage\n" for _ in range(5))
        stages = replace(CATALOGUE["kwok"].files[0], sha256=sha256(content))
        tool = replace(CATALOGUE["kwok"], files=(stages,))
        with serving() as site:
            for source in stages.sources:
                path = f"/raw.githubusercontent.com/kubernetes-sigs/kwok/v0.8.0/{source}"
                site.files[path] = b"kind: Stage\n"
            machine = Machine(tmp_path, releases_root=site.url, catalogue={"kwok": tool})
            where = machine.has("kwok", says("kwok version v0.8.1 go1.26 (linux/amd64)"))

            installed = machine.toolchain().ensure(["kwok"])["kwok"]

        assert (installed.source, installed.version) == ("path", "0.8.1")
        assert installed.path.resolve() == where.resolve()
        assert (installed.path.parent / "stages.yaml").read_bytes() == content
        assert machine.toolchain().find("kwok") == installed
        machine.has("kwok", says("kwok version v0.8.1 rebuilt"))
        assert machine.toolchain().find("kwok") is None, "a link to a changed file is made anew"

    def test_without_stages_from_anywhere_it_is_not_taken(self, tmp_path: Path) -> None:
        machine = Machine(tmp_path, releases_root=NOBODY)
        machine.has("kwok", says("kwok version v0.8.0"))
        machine.has(
            "go", 'case $1 in version) echo go1.26.1;; *) echo "no proxy" >&2; exit 1;; esac'
        )

        with pytest.raises(ToolchainError) as caught:
            machine.toolchain().ensure(["kwok"])

        assert "on PATH: found, but stages.yaml cannot be installed" in str(caught.value)
        assert machine.toolchain().find("kwok") is None
