"""Coder's API documents: downloaded once with the real Go from a module proxy of files (V1)."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from coder_stack.coderd.versions import TRIED
from sandbox.toolchain.api_documents import MODULE, NAME, ApiDocuments
from sandbox.toolchain.catalogue import MODULES
from sandbox.toolchain.errors import SourceUnavailable, ToolchainError
from tests.unit.toolchain.machines import Machine, clean_environment

CHECKOUT = Path(__file__).parents[3]
TWO = ("v2.20.0", "v2.24.0")


def document_of(version: str) -> str:
    return json.dumps({"swagger": "2.0", "info": {"version": version}})


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with Go, whose module proxy has two made-up versions, and their locks."""
    machine = Machine(tmp_path, modules=tmp_path / "modules")
    machine.has_go()
    proxy = tmp_path / "proxy"
    monkeypatch.setenv("GOPROXY", proxy.as_uri())
    monkeypatch.setenv("GOSUMDB", "off")
    locks = [publish(proxy / MODULE / "@v", version) for version in TWO]
    lock = machine.modules / NAME
    lock.mkdir(parents=True)
    (lock / "go.mod").write_text("module example.test/lock\n\ngo 1.26\n")
    (lock / "go.sum").write_text("".join(locks))
    return machine


def publish(folder: Path, version: str) -> str:
    """Write a version of the module as a module proxy has it; return its line in go.sum."""
    folder.mkdir(parents=True, exist_ok=True)
    module = f"module {MODULE}\n"
    files = {"go.mod": module, "coderd/apidoc/swagger.json": document_of(version)}
    (folder / f"{version}.info").write_text(json.dumps({"Version": version}))
    (folder / f"{version}.mod").write_text(module)
    listed = ""
    with zipfile.ZipFile(folder / f"{version}.zip", "w") as archive:
        for name, text in sorted(files.items()):
            whole = f"{MODULE}@{version}/{name}"
            archive.writestr(whole, text)
            listed += f"{hashlib.sha256(text.encode()).hexdigest()}  {whole}\n"
    listed = "".join(sorted(listed.splitlines(keepends=True), key=lambda line: line[66:]))
    digest = base64.b64encode(hashlib.sha256(listed.encode()).digest()).decode()
    return f"{MODULE} {version} h1:{digest}\n"


def documents(machine: Machine, versions: tuple[str, ...] = TWO) -> ApiDocuments:
    return replace(machine.toolchain().api_documents, versions=versions)


def ensure(machine: Machine, versions: tuple[str, ...] = TWO) -> dict[str, Path]:
    toolchain = machine.toolchain()
    wanted = documents(machine, versions)
    with toolchain.store.lock(toolchain.progress):
        return dict(wanted.ensure(toolchain.progress))


def test_V1_only_the_documents_stay_in_the_cache(machine: Machine) -> None:
    found = ensure(machine)

    assert {version: path.read_text() for version, path in found.items()} == {
        version: document_of(version) for version in TWO
    }
    kept = {path.name for path in machine.cache.rglob("*") if path.is_file()}
    assert kept <= {"swagger.json", "manifest.json", "toolchain.lock", "toolchain.holder"}
    assert list((machine.cache / "staging").iterdir()) == []
    said = machine.log.getvalue().splitlines()
    assert said[0] == "coder-api: downloading v2.20.0 of Coder"
    assert said[-1].startswith("coder-api: v2.24.0 downloaded in ")


def test_V1_what_is_in_the_cache_needs_neither_go_nor_network(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ensure(machine)
    (machine.bin / "go").unlink()
    monkeypatch.setenv("GOPROXY", "off")
    machine.log.truncate(0)

    assert ensure(machine) == first
    assert "downloading" not in machine.log.getvalue()


def test_V1_a_module_with_another_checksum_is_refused(machine: Machine) -> None:
    lock = machine.modules / NAME / "go.sum"
    lock.write_text(lock.read_text().replace("h1:", "h1:AAAA", 1).replace("=\n", "\n", 1))

    with pytest.raises(SourceUnavailable, match=r"v2\.20\.0: .* does NOT match"):
        ensure(machine)

    assert documents(machine).find() == {}
    assert list((machine.cache / "staging").iterdir()) == []


def test_V1_without_the_module_proxy_one_sentence_says_what_to_do(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOPROXY", "http://127.0.0.1:1")

    with pytest.raises(ToolchainError) as caught:
        machine.toolchain().ensure_api_documents()

    said = str(caught.value)
    assert said.startswith(f"Coder's API documents cannot be downloaded: {TRIED[0]}: ")
    assert said.endswith("or leave out the tests in tests/specification.")
    assert "\n" not in said
    assert "http://" not in said


def test_V1_a_killed_download_leaves_whole_documents_and_the_next_run_continues(
    machine: Machine, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    real = (machine.bin / "go").readlink()
    (machine.bin / "go").unlink()
    machine.has(
        "go",
        f"""case "$*" in *{TWO[1]}) mkdir -p "$GOMODCACHE/half"; echo $$ > {told}; exec sleep 600;;
        *) exec {real} "$@";; esac""",
    )
    run = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.toolchain.install_documents", str(tmp_path), *TWO],
        cwd=CHECKOUT,
        env=clean_environment(PATH=f"{machine.bin}:{os.environ['PATH']}"),
    )
    orphan = int(told.read_text())
    run.kill()
    run.wait()
    os.kill(orphan, 9)

    assert list((machine.cache / "staging").iterdir()), "the kill came in the middle"
    assert list(documents(machine).find()) == [TWO[0]]
    (machine.bin / "go").unlink()
    machine.has_go()
    assert list(ensure(machine)) == list(TWO)
    assert list((machine.cache / "staging").iterdir()) == []


@pytest.mark.parametrize("left_out", [False, True])
def test_V1_the_tests_without_documents_fail_with_that_sentence_unless_left_out(
    tmp_path: Path, left_out: bool
) -> None:
    one = "tests/specification/test_client.py::test_V1_every_exception_is_needed"
    chosen = ["-m", "not specification"] if left_out else []
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", one, *chosen],
        check=False,
        cwd=CHECKOUT,
        env=clean_environment(CODER_STACK_CACHE=str(tmp_path), GOPROXY="off"),
        capture_output=True,
        text=True,
    )

    told = "Coder's API documents cannot be downloaded: " in run.stdout
    nothing_ran = run.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert (told, nothing_ran) == (not left_out, left_out), run.stdout
    assert "Traceback" not in run.stdout
    assert "skipped" not in run.stdout


@pytest.mark.parametrize("damage", ["changed", "shorter"])
def test_V1_a_damaged_document_is_found_and_downloaded_again(machine: Machine, damage: str) -> None:
    file = ensure(machine)[TWO[0]]
    whole = file.read_text()
    file.write_text(whole.replace("2.0", "9.9") if damage == "changed" else "")

    wanted = documents(machine)
    assert wanted.damaged() == ([TWO[0]] if damage == "changed" else [])
    wanted.drop(wanted.damaged())
    assert list(wanted.find()) == [TWO[1]]
    assert ensure(machine)[TWO[0]].read_text() == whole


def test_V1_every_tried_version_has_a_checksum_and_no_other() -> None:
    lines = [line.split() for line in (MODULES / NAME / "go.sum").read_text().splitlines()]
    assert [(module, version) for module, version, _ in lines] == [
        (MODULE, version) for version in TRIED
    ]
