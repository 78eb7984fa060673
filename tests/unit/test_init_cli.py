"""`coder-stack init` before Pulumi changes anything: options that are wrong or missing."""

import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from coder_stack.cli import command

app = command()

PULUMI = """#!/bin/sh
case "$*" in
  *version*) echo v3.220.0 ;;
  *whoami*) echo '{"url": "file:///state"}' ;;
  *) echo "$@" >> changes; exit 1 ;;
esac
"""
DATABASE = "--built-in-database"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "pulumi"
    program.parent.mkdir()
    program.write_text(PULUMI)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    (tmp_path / "Pulumi.yaml").write_text("name: acme\nruntime: python\n")
    (tmp_path / "license").write_text("hunter2")
    return tmp_path


def init(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["init", "--cwd", str(folder), *options])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "give --stack; or run this on a terminal"),
        (
            ["--stack", "dev"],
            "give --context and one of --database-secret, --cloud-native-pg, --built-in-database",
        ),
        (["--stack", "dev", DATABASE], "give --context; or run this on a terminal"),
        ([DATABASE, "--database-secret", "x"], "give only one of --database-secret, --built-in"),
        (["--ingress-class", "nginx"], "--ingress-class needs --access-url"),
        (["--tls-secret", "x"], "--tls-secret needs --ingress-class"),
        (["--license", "x", "--license-secret", "x"], "cannot read x: No such file or directory"),
        (
            ["--stack", "dev", "--context", "c", DATABASE, "--access-url", "coder.example.com"],
            "controlPlane.accessUrl: must be an http or https URL",
        ),
    ],
)
def test_F4_a_wrong_or_missing_option_is_named_and_nothing_is_changed(
    folder: Path, options: list[str], sentence: str
) -> None:
    before = sorted(folder.iterdir())
    refused = init(folder, *options)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert sentence in refused.stderr
    assert sorted(folder.iterdir()) == before


def test_F4_what_is_no_license_is_refused_without_quoting_it(folder: Path) -> None:
    refused = init(folder, "--license", str(folder / "license"))
    assert refused.exit_code == 1
    assert "give the file that Coder sent." in refused.stderr
    assert "hunter2" not in refused.stderr


def test_F4_without_a_project_it_says_where_it_looked(folder: Path) -> None:
    (folder / "Pulumi.yaml").unlink()
    assert f"There is no Pulumi.yaml in {folder}; give --cwd." in init(folder).stderr


def test_F4_a_file_that_is_no_config_is_not_overwritten(folder: Path) -> None:
    file = folder / "Pulumi.dev.yaml"
    file.write_text("just: [text")
    refused = init(folder, "--stack", "dev", "--force", "--context", "c", DATABASE)
    assert (refused.exit_code, refused.stderr) == (
        1,
        "error: Pulumi.dev.yaml is not YAML, line 1.\n",
    )
    assert file.read_text() == "just: [text"
    assert not (folder / "changes").exists(), "no stack was created"
