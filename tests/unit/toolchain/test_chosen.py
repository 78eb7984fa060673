"""Another engine or other Coder servers than the default: chosen by a variable, side by side."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from coder_stack.operate.engine.versions import TRIED
from sandbox.paths import CHECKOUT
from sandbox.toolchain.catalogue import CATALOGUE, CONTRACT, MODULES, PART_GIGABYTES
from sandbox.toolchain.chosen import CODER_VARIABLE, ENGINE_VARIABLE, chosen_catalogue, servers_of
from sandbox.toolchain.coder_servers import SERVERS, coder_servers
from sandbox.toolchain.engines import ENGINES, pulumi
from sandbox.toolchain.errors import SourceUnavailable, ToolchainError
from sandbox.toolchain.on_path import find_on_path
from sandbox.toolchain.recipes import Tool
from tests.unit.toolchain.machines import Machine

NEWEST = ENGINES[-1]
VARIANTS: list[Tool] = [
    *map(pulumi, ENGINES),
    *(server for version in SERVERS for server in coder_servers(version)),
]


def test_V3_without_a_choice_the_catalogue_is_as_it_was() -> None:
    assert chosen_catalogue({}) == CATALOGUE
    assert chosen_catalogue({ENGINE_VARIABLE: "", CODER_VARIABLE: ""}) == CATALOGUE
    assert CATALOGUE["pulumi"].version == TRIED[0].removeprefix("v") == "3.220.0"
    assert servers_of({}) == CONTRACT


@pytest.mark.parametrize("version", [NEWEST, f"v{NEWEST}"])
def test_V3_a_chosen_engine_has_its_own_lock_and_lives_beside_the_default(
    version: str, tmp_path: Path
) -> None:
    """A Go that writes files at once builds both; the real one takes minutes."""
    catalogue = chosen_catalogue({ENGINE_VARIABLE: version})
    others = {name: tool for name, tool in catalogue.items() if name != "pulumi"}
    default = Machine(tmp_path, offline=True, catalogue={"pulumi": _bare(CATALOGUE["pulumi"])})
    chosen = replace(default, catalogue={"pulumi": _bare(catalogue["pulumi"])})
    default.has_scripted_go()

    first = default.toolchain().ensure(["pulumi"])["pulumi"]
    second = chosen.toolchain().ensure(["pulumi"])["pulumi"]

    assert catalogue["pulumi"].parts == {f"pulumi-{NEWEST}", "language-host"}
    assert others.items() <= CATALOGUE.items()
    assert (first.version, second.version) == (ENGINES[0], NEWEST)
    assert default.toolchain().find("pulumi") == first, "the other engine is still there"
    assert chosen.toolchain().find("pulumi") == second


def _bare(tool: Tool) -> Tool:
    """Leave out the files that come from modules, which need the network."""
    return replace(tool, files=())


def test_V3_another_version_on_path_is_not_the_chosen_engine(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    probe = chosen_catalogue({ENGINE_VARIABLE: NEWEST})["pulumi"].probe
    assert probe is not None
    for name in ("pulumi", *probe.beside):
        machine.has(name, "echo v3.300.0")

    with pytest.raises(SourceUnavailable, match=r"3\.300\.0, too new"):
        find_on_path("pulumi", probe, path=str(machine.bin))

    machine.has("pulumi", f"echo v{NEWEST}  # exactly")
    assert find_on_path("pulumi", probe, path=str(machine.bin)).version == NEWEST


@pytest.mark.parametrize(("version", "taken"), [("3.221.0", False), ("3.222.0", True)])
def test_V3_a_newer_engine_on_path_needs_no_script_for_policy_packs(
    version: str, taken: bool, tmp_path: Path
) -> None:
    """Since 3.222 the language host runs the packs, and the script is not published any more."""
    machine = Machine(tmp_path)
    probe = CATALOGUE["pulumi"].probe
    assert probe is not None
    for name in ("pulumi", *probe.beside):
        if name != "pulumi-analyzer-policy-python":
            machine.has(name, f"echo v{version}")

    assert (machine.toolchain().find("pulumi") is not None) is taken


def test_V3_an_engine_without_a_lock_is_refused_with_those_that_have_one() -> None:
    with pytest.raises(ToolchainError) as refused:
        chosen_catalogue({ENGINE_VARIABLE: "v3.1.0"})

    message = str(refused.value)
    assert "there is no lock for Pulumi v3.1.0; there are v3.220.0, " in message
    assert "CONTRIBUTING.md" in message


def test_V3_chosen_servers_replace_both_of_the_default() -> None:
    catalogue = chosen_catalogue({CODER_VARIABLE: "v2.20.0"})
    assert {catalogue[name].version for name in CONTRACT} == {"2.20.0"}


def test_V3_a_version_with_an_agpl_server_only_has_no_other() -> None:
    choice = {CODER_VARIABLE: "v2.30.0"}
    assert servers_of(choice) == ("coder-agpl",)
    assert "coder" not in chosen_catalogue(choice)


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("v2.27.0", "cannot be built, the Go module proxy does not have github.com/coder/boundary"),
        ("v2.29.1", "nor github.com/coder/aibridge v0.2.0"),
        ("v2.24.0", "Coder v2.24.0 has no lock"),
    ],
)
def test_V3_servers_that_cannot_be_had_are_refused_with_the_reason(version: str, why: str) -> None:
    with pytest.raises(ToolchainError) as refused:
        chosen_catalogue({CODER_VARIABLE: version})

    assert why in str(refused.value)
    assert "There are v2.20.0, v2.26.0" in str(refused.value)


@pytest.mark.parametrize("tool", VARIANTS, ids=lambda tool: f"{tool.name}-{tool.version}")
def test_V3_every_version_is_locked_under_its_own_number(tool: Tool) -> None:
    for program in tool.programs:
        lock = (MODULES / program.part / "go.mod").read_text()
        assert program.part in PART_GIGABYTES
        assert program.package in (MODULES / program.part / "tools.go").read_text()
        if program.part != "language-host":
            module = "/".join(program.package.split("/")[:3])
            assert re.search(rf"{re.escape(module)}\S* v{re.escape(tool.version)}\b", lock)


def test_V3_the_docs_list_the_servers_that_have_a_lock() -> None:
    page = (CHECKOUT / "docs/toolchain.md").read_text()
    rows = re.findall(r"^\| v(2\.\d+\.\d+) \| (?:(enterprise), )?(AGPL)", page, re.MULTILINE)
    tools = {"enterprise": "coder", "AGPL": "coder-agpl", "": ""}
    listed = {version: tuple(filter(None, map(tools.get, kinds))) for version, *kinds in rows}
    assert listed == SERVERS
