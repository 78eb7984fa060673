"""`coder-stack config`: what a config can say, and what is wrong in a file, without a cluster."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from coder_stack.cli import command
from coder_stack.settings import SECRETS, Settings, load
from sandbox.paths import CHECKOUT
from tests.example_files import EXAMPLES

app = command()

TO_COPY = [CHECKOUT / "Pulumi.example.yaml", *EXAMPLES]
STACK_FILES = sorted({*CHECKOUT.glob("Pulumi.*.yaml"), *TO_COPY})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["config", *arguments])


@pytest.fixture
def stack_file(tmp_path: Path) -> Path:
    return tmp_path / "Pulumi.test.yaml"


@pytest.mark.parametrize(
    ("command", "page"),
    [("reference", "configuration.md"), ("schema", "configuration.schema.json")],
)
def test_the_generated_docs_are_current(command: str, page: str) -> None:
    assert run(command).output == (CHECKOUT / "docs" / page).read_text(), "run: make docs"


def test_the_reference_names_every_field_and_every_secret() -> None:
    page = run("reference").output
    schema = json.loads(run("schema").output)
    parts = [schema["properties"]["config"], *schema["definitions"].values()]
    for part in parts:
        for name in part["properties"]:
            assert f"| `{name.removeprefix('coder-stack:')}` |" in page
    assert set(SECRETS) <= {key.removeprefix("coder-stack:") for key in parts[0]["properties"]}


@pytest.mark.parametrize("file", STACK_FILES, ids=lambda file: file.name)
def test_every_stack_file_of_this_repository_is_right(file: Path) -> None:
    result = run("check", str(file))
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("file", TO_COPY, ids=lambda file: file.name)
def test_what_is_there_to_be_copied_holds_no_secret(file: Path) -> None:
    assert "secure:" not in file.read_text()


def test_the_settings_with_all_defaults_are_printed_and_read_back(stack_file: Path) -> None:
    stack_file.write_text("config:\n  coder-stack:controlPlane:\n    replicas: 3\n")
    result = run("check", str(stack_file))
    assert result.exit_code == 0
    printed = yaml.safe_load(result.stdout)
    assert printed["controlPlane"]["replicas"] == 3
    assert printed["controlPlane"]["service"]["port"] == 80
    texts = {f"coder-stack:{key}": json.dumps(value) for key, value in printed.items()}
    assert load(texts, "coder-stack") == Settings.model_validate(printed)


def test_B1_every_mistake_is_printed_and_the_exit_code_is_1(stack_file: Path) -> None:
    stack_file.write_text(
        """
        config:
          coder-stack:token: hunter2
          coder-stack:licenseJwt: {secure: hunter2}
          coder-stack:license: {secret: {name: coder-license}}
          coder-stack:controlPlane: {replicas: -1, ingress: {}}
          coder-stack:access: {caBundle: {secure: hunter2}}
          proxys: []
          aws:region: eu
        """
    )
    result = run("check", str(stack_file))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "hunter2" not in result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("  - ")]
    assert [line[4:].split(": ")[0] for line in lines] == [
        "access",
        "controlPlane.ingress",
        "controlPlane.replicas",
        "license.secret",
        "proxys",
        "token",
    ]


def test_yaml_is_read_as_pulumi_reads_it(stack_file: Path) -> None:
    """Seen with `pulumi config --json`: `yes` is text, and a date is handed over as text."""
    stack_file.write_text(
        """
        config:
          coder-stack:controlPlane: {env: {A: yes, B: on, C: 2027-01-31}, createNamespace: True}
          coder-stack:drift: {ignore: [{resource: '*', reason: r, until: 2027-01-31}]}
        """
    )
    result = run("check", str(stack_file))
    assert result.exit_code == 0, result.stderr
    plane = yaml.safe_load(result.stdout)["controlPlane"]
    assert plane["env"] == {"A": "yes", "B": "on", "C": "2027-01-31"}


def test_a_date_as_pulumi_hands_it_over() -> None:
    rule = {"resource": "*", "reason": "r", "until": "2027-01-31 00:00:00 +0000 UTC"}
    read = load({"coder-stack:drift": json.dumps({"ignore": [rule]})}, "coder-stack")
    assert read.drift.ignore[0].until.isoformat() == "2027-01-31"


def test_another_project_has_its_own_keys(stack_file: Path) -> None:
    stack_file.write_text("config: {mine:controlPlane: {replicas: -1}, coder-stack:bogus: 1}")
    result = run("check", str(stack_file), "--project", "mine")
    assert result.exit_code == 1
    assert "controlPlane.replicas" in result.stderr
    assert "bogus" not in result.stderr


def test_F4_the_project_is_that_of_the_pulumi_yaml_beside_the_file(stack_file: Path) -> None:
    (stack_file.parent / "Pulumi.yaml").write_text("name: mine\nruntime: python\n")
    stack_file.write_text("config: {mine:controlPlane: {replicas: -1}}")
    result = run("check", str(stack_file))
    assert (result.exit_code, "controlPlane.replicas" in result.stderr) == (1, True)


def test_F4_keys_of_coder_stack_are_read_in_a_project_of_another_name(stack_file: Path) -> None:
    """So the examples and the sandbox's file work in a copy that `pulumi new` made."""
    stack_file.write_text("config: {coder-stack:controlPlane: {replicas: 3}, aws:region: eu}")
    result = run("check", str(stack_file), "--project", "mine")
    assert yaml.safe_load(result.stdout)["controlPlane"]["replicas"] == 3


def test_F4_keys_that_would_be_ignored_beside_the_projects_own_are_mistakes(
    stack_file: Path,
) -> None:
    stack_file.write_text(
        "config: {coder-stack:controlPlane: {replicas: 3}, mine:initialPassword: hunter2}"
    )
    result = run("check", str(stack_file), "--project", "mine")
    assert result.exit_code == 1
    assert "coder-stack:controlPlane: must be mine:controlPlane" in result.stderr
    assert "set it with: pulumi config set --secret initialPassword\n" in result.stderr
    assert "hunter2" not in result.stderr


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a: [hunter2", "is not YAML, line 1"),
        (b"\xff\xfe\x00hunter2", "is not text"),
        (b"hunter2", "is not a stack's config"),
        (b"config: [hunter2]", "`config` is not a mapping"),
    ],
)
def test_a_file_that_is_no_stack_file_is_one_sentence(
    stack_file: Path, content: bytes, sentence: str
) -> None:
    stack_file.write_bytes(content)
    result = run("check", str(stack_file))
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert "hunter2" not in result.stderr


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    result = run("check", str(tmp_path / "none.yaml"))
    assert result.exit_code == 1
    assert "cannot be read (No such file or directory)" in result.stderr


def test_CP8_what_only_may_be_a_mistake_is_a_warning(stack_file: Path) -> None:
    stack_file.write_text(
        "config:\n"
        "  coder-stack:controlPlane: { tls: { secretNames: [coder-tls] } }\n"
        "  coder-stack:provisioners: [{ name: eu }]\n"
    )
    result = run("check", str(stack_file))
    assert result.exit_code == 0
    assert result.stderr.startswith(f"warning: {stack_file}: provisioners[0].url: the pods of ")
