"""The engines that were tried: one constant, and everything that states it."""

import re
from pathlib import Path

import pytest
import typer
import yaml
from typer.testing import CliRunner

from coder_stack.cli import operate as cli
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.engine.versions import TRIED, newer_than_tried, too_old, tried_range
from sandbox.paths import CHECKOUT

OLDEST, NEWEST = TRIED[0], TRIED[-1]


def pulumi(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str, other: str = "") -> None:
    """Put a `pulumi` of this version on PATH; `other` is what it does for every other command."""
    program = folder / "pulumi"
    program.write_text(f'#!/bin/sh\n[ "$1" = version ] && {{ echo {version}; exit; }}\n{other}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_V3_the_versions_are_in_order_and_the_range_names_both_ends() -> None:
    numbers = [tuple(map(int, each.removeprefix("v").split("."))) for each in TRIED]
    assert numbers == sorted(numbers)
    assert tried_range() == f"{OLDEST} to {NEWEST}"


def test_V3_an_engine_older_than_any_that_was_tried_is_refused_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulumi(tmp_path, monkeypatch, "v3.219.9")

    with pytest.raises(OperationError) as refused:
        Project.at(tmp_path)

    assert str(refused.value) == f"The command pulumi is v3.219.9; {OLDEST} or newer is needed."
    assert "Install the Pulumi CLI" in refused.value.remedy


@pytest.mark.parametrize("version", [*TRIED, "v3.230.1"])
def test_V3_an_engine_in_the_range_gets_no_remark(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulumi(tmp_path, monkeypatch, version)

    assert Project.at(tmp_path).note == ""


def test_V3_a_patch_of_the_newest_engine_counts_as_tried() -> None:
    assert newer_than_tried((3, 259, 7)) == ""
    assert newer_than_tried((3, 260, 0)).startswith("The command pulumi is v3.260.0; ")
    assert too_old((3, 260, 0)) == ""


@pytest.mark.parametrize(("version", "said"), [("v3.999.0", True), (NEWEST, False)])
def test_V3_a_newer_engine_is_named_only_where_a_run_fails(
    version: str, said: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulumi(tmp_path, monkeypatch, version, "echo 'error: out of order' >&2; exit 255")
    app = typer.Typer()
    cli.register(app)

    done = CliRunner().invoke(app, ["status", "--stack", "a", "--cwd", str(tmp_path)])

    note = f"note: The command pulumi is v3.999.0; this program was tried with {tried_range()}.\n"
    assert done.exit_code == 1
    assert (note in done.stderr) is said


def test_V3_plain_pulumi_refuses_an_older_engine_too() -> None:
    project = yaml.safe_load((CHECKOUT / "Pulumi.yaml").read_text())
    assert project["requiredPulumiVersion"] == f">={OLDEST.removeprefix('v')}"


def test_V3_the_docs_state_the_engines_that_were_tried() -> None:
    tools = (CHECKOUT / "docs/toolchain.md").read_text()
    rows = re.findall(r"^\| (v3\.\d+\.\d+) \|", tools, re.MULTILINE)
    assert tuple(rows) == TRIED
    deploy = (CHECKOUT / "docs/deploy.md").read_text()
    assert f"{OLDEST.removeprefix('v').rpartition('.')[0]} or newer" in deploy


@pytest.mark.parametrize("file", ["Dockerfile", ".github/actions/prepare/action.yml"])
def test_V3_pipelines_and_image_pin_an_engine_that_was_tried(file: str) -> None:
    pinned = re.findall(r"pulumi-(?:version|base):\s?(3\.\d+\.\d+)", (CHECKOUT / file).read_text())
    assert pinned
    assert {f"v{each}" for each in pinned} <= set(TRIED)
