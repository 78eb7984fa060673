"""`coder-stack config from-helm`: files in, a stack's file and a list out."""

import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from coder_stack.cli import command, main
from tests.unit.from_helm import values

app = command()


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["config", "from-helm", *arguments], input=stdin)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coder.yaml").write_text(values.EVERYTHING)
    (tmp_path / "builders.yaml").write_text(values.PROVISIONER)
    return tmp_path


def test_B2_the_config_is_on_stdout_and_the_list_on_stderr(folder: Path) -> None:
    result = run("coder.yaml", "builders.yaml")
    assert result.exit_code == 0
    config = yaml.safe_load(result.stdout)["config"]
    assert config["coder-stack:controlPlane"]["deploy"] is False
    assert config["coder-stack:provisioners"][0]["key"]["adoptSecret"] == "builder-key"
    lines = result.stderr.splitlines()
    assert "  coder.yaml: coder.image.tag -> controlPlane.image.tag" in lines
    assert lines[-1].endswith(" not needed, 1 without a counterpart")
    assert values.SECRET not in result.output


def test_B2_what_has_no_counterpart_is_at_the_head_of_the_file_too(folder: Path) -> None:
    result = run("coder.yaml", "--replace")
    head = result.stdout.partition("config:\n")[0].splitlines()
    assert all(line.startswith("#") for line in head)
    _, _, rest = result.stderr.partition("no counterpart:\n")
    listed = [line.strip() for line in rest.splitlines() if line.startswith("  ")]
    assert listed
    assert all(f"#   - {line}" in head for line in listed)


@pytest.mark.parametrize(("mode", "strict"), [("--beside", 0), ("--replace", 2)])
def test_B2_strict_fails_only_if_something_has_no_counterpart(
    folder: Path, mode: str, strict: int
) -> None:
    assert run("coder.yaml", mode).exit_code == 0
    assert run("coder.yaml", mode, "--strict").exit_code == strict


def test_B2_the_file_keeps_what_pulumi_has_put_into_it(folder: Path) -> None:
    file = folder / "Pulumi.test.yaml"
    salt = "encryptionsalt: v1:abc\n"
    file.write_text(salt)
    result = run("coder.yaml", "--out", str(file))
    assert (result.exit_code, result.stdout) == (0, "")
    written = yaml.safe_load(file.read_text())
    assert written["encryptionsalt"] == "v1:abc"
    assert written["config"]["coder-stack:controlPlane"]["namespace"] == "coder"


def test_B2_a_file_with_settings_is_written_anew_only_by_force(folder: Path) -> None:
    file = folder / "Pulumi.test.yaml"
    old = "config: {coder-stack:token: {secure: abc}, coder-stack:drift: {ignore: []}}\n"
    file.write_text(old)
    refused = run("coder.yaml", "--out", str(file))
    assert refused.exit_code == 1
    assert refused.stderr == (
        f"error: {file} has settings; give another --out, or --force to write it anew.\n"
    )
    assert file.read_text() == old
    assert run("coder.yaml", "--out", str(file), "--force").exit_code == 0
    config = yaml.safe_load(file.read_text())["config"]
    assert config["coder-stack:token"] == {"secure": "abc"}
    assert "coder-stack:drift" not in config


def test_B2_names_and_namespaces_are_options(folder: Path) -> None:
    names = ("--name", "coderd", "--namespace", "dev", "--provisioner-name", "eu")
    result = run("coder.yaml", "builders.yaml", *names, "--provisioner-namespace", "builds")
    config = yaml.safe_load(result.stdout)["config"]
    assert config["coder-stack:controlPlane"]["name"] == "coderd"
    assert config["coder-stack:controlPlane"]["namespace"] == "dev"
    (daemons,) = config["coder-stack:provisioners"]
    assert (daemons["name"], daemons["namespace"]) == ("eu", "builds")


def test_B2_the_keys_are_those_of_the_project_there(folder: Path) -> None:
    (folder / "Pulumi.yaml").write_text("name: acme\nruntime: python\n")
    assert "acme:controlPlane" in yaml.safe_load(run("coder.yaml").stdout)["config"]
    given = run("coder.yaml", "--project", "other")
    assert "other:controlPlane" in yaml.safe_load(given.stdout)["config"]


def test_B2_values_may_come_from_helm_itself() -> None:
    """`helm get values` writes a title above them, unless it is told to write YAML."""
    result = run("-", stdin=f"USER-SUPPLIED VALUES:\n{values.MINIMAL.lstrip()}")
    assert result.exit_code == 0
    assert "accessUrl: https://coder.example.com" in result.stdout


BAD = {
    "not YAML": (b"coder: [hunter2", "is not a YAML document, line 1."),
    "two documents": (b"coder: {}\n---\ncoder: {}\n", "is not a YAML document, line 2."),
    "a tag": (b"coder: !!python/object:os.system hunter2", "is not a YAML document, line 1."),
    "not text": (b"\xff\xfe\x00", "is not text."),
    "a word": (b"hunter2", "holds no values: it is not a mapping."),
    "a list": (b"[hunter2]", "holds no values: it is not a mapping."),
    "nothing": (b"", "holds no values: it is not a mapping."),
    "other values": (b"replicas: 3", "has neither `coder:` nor `provisionerDaemon:`, as"),
    "coder is null": (b"coder:", "has neither `coder:` nor `provisionerDaemon:`, as"),
    "coder is text": (b"coder: hunter2", "coder is not a mapping."),
    "daemon is a list": (b"provisionerDaemon: [hunter2]", "provisionerDaemon is not a mapping."),
    "a chart around": (b"coder: {coder: {env: []}}", "the values of a chart around Coder's"),
    "a proxy": (b"coder: {workspaceProxy: true}", "deploys a workspace proxy; declare it under"),
    "a date": (b"coder: {podLabels: {a: 2026-01-01}}", "podLabels.a is of the type date; write"),
    "no such date": (b"coder: {a: 2026-99-99}", "is not a YAML document that can be read."),
    "bytes": (b"coder: {a: !!binary aGk=}", "coder.a is of the type bytes; write it in quotes."),
    "infinity": (b"coder: {a: [.inf]}", "coder.a[0] is not a finite number."),
    "a key": (b"coder: {? [hunter2] : 1}", "is not a YAML document, line 1."),
    "a null key": (b"coder: {~: 1}", "coder has a key that is not text."),
    "itself": (b"coder: &a {b: *a}", "is too large, or too deep, for values of a chart."),
    "very deep": (b"coder: " + b"[" * 5000, "is not a YAML document"),
}


@pytest.mark.parametrize("name", BAD)
def test_B2_what_is_not_values_is_one_sentence(tmp_path: Path, name: str) -> None:
    content, sentence = BAD[name]
    file = tmp_path / "values.yaml"
    file.write_bytes(content)
    result = run(str(file))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"error: {file}")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert "hunter2" not in result.stderr


def test_B2_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    result = run(str(tmp_path / "none.yaml"))
    assert result.exit_code == 1
    assert result.stderr.endswith("none.yaml cannot be read (No such file or directory).\n")


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ("none/Pulumi.test.yaml", "cannot write none/Pulumi.test.yaml: No such file or directory."),
        (".", ". cannot be read (Is a directory)."),
        ("coder.txt", "coder.txt is not YAML, line 1."),
    ],
)
def test_B2_what_cannot_be_written_is_one_sentence(folder: Path, out: str, sentence: str) -> None:
    (folder / "coder.txt").write_text("a: [b")
    result = run("coder.yaml", "--out", out)
    assert (result.exit_code, result.stderr) == (1, f"error: {sentence}\n")


def test_B2_a_wrong_option_or_name_exits_with_1(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """2 is for values without a counterpart."""
    assert run("coder.yaml", "--namespace", "Not A Name").exit_code == 1
    monkeypatch.setattr(sys, "argv", ["coder-stack", "config", "from-helm"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "VALUES" in capsys.readouterr().err


def test_B2_the_help_has_an_example() -> None:
    text = run("--help").output
    for words in ("helm get values coder", "--replace", "--beside", "--strict", "stderr"):
        assert words in text
