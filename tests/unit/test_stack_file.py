"""A stack's file: what Pulumi ignores in it, or refuses, is reported with all other mistakes."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from coder_stack.cli import command
from coder_stack.settings.root_keys import PULUMI_KEYS

app = command()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["config", *arguments])


@pytest.fixture
def stack_file(tmp_path: Path) -> Path:
    return tmp_path / "Pulumi.test.yaml"


def mistakes(result: Result) -> list[str]:
    return [line[4:] for line in result.stderr.splitlines() if line.startswith("  - ")]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("coder-stack:controlPlane", "belongs under `config:`"),
        ("controlPlane", "belongs under `config:`, as coder-stack:controlPlane"),
        ("controlplane", "belongs under `config:`, as coder-stack:controlPlane"),
        ("initialPassword", "belongs under `config:`, as coder-stack:initialPassword"),
        ("coder_stack:provisoners", "belongs under `config:`, as coder-stack:provisioners"),
        ("coder-stack", "belongs under `config:`, as one key for each field: coder-stack:<field>"),
        ("kubernetes:context", "belongs under `config:`"),
        ("configs", "is not a key of a stack's file; did you mean config? "),
        ("Config", "is not a key of a stack's file; did you mean config? "),
        ("encryptionSalt", "is not a key of a stack's file; did you mean encryptionsalt? "),
        ("apiVersion", "is not a key of a stack's file; settings belong under `config:`; known "),
        ("a key\nof two lines", "is not a key of a stack's file"),
    ],
)
def test_F5_a_key_outside_of_config_is_a_mistake_with_its_fix(
    stack_file: Path, key: str, said: str
) -> None:
    """Seen with `pulumi config --json`: Pulumi ignores such a key without a word."""
    stack_file.write_text(yaml.safe_dump({key: {}, "config": {"coder-stack:drift": {}}}))
    result = run("check", str(stack_file))
    assert (result.exit_code, result.stdout) == (1, "")
    shown = json.dumps(key) if "\n" in key else key
    assert any(each.startswith(f"{shown}: {said}") for each in mistakes(result))


def test_F5_mistakes_outside_of_config_are_reported_with_those_inside(stack_file: Path) -> None:
    """A setting in the wrong place is checked as if it were in the right one."""
    stack_file.write_text(
        """
        encryptionsalt: v1:abc
        secretsprovider: passphrase
        encryptedkey: abc
        environment: [shared]
        coder-stack:organizations: [{name: research}]
        controlPlane: {replicas: -1}
        coder-stack: {access: {tokenDays: 0}}
        licenseJwt: hunter2
        stranger: 1
        config:
          coder-stack:provisioners: [{name: eu, organization: research, replicas: -1}]
        """
    )
    result = run("check", str(stack_file))
    assert result.exit_code == 1
    assert "hunter2" not in result.stderr
    assert [each.split(": ")[0] for each in mistakes(result)] == [
        "access.tokenDays",
        "coder-stack",
        "coder-stack:organizations",
        "controlPlane.replicas",
        "controlPlane",
        "licenseJwt",
        "licenseJwt",
        "provisioners[0].replicas",
        "stranger",
    ]


def test_F5_what_is_under_config_counts_more_than_what_is_outside(stack_file: Path) -> None:
    stack_file.write_text("drift: {maxDeletes: -1}\nconfig: {drift: {maxDeletes: 1}}\n")
    assert [each.split(": ")[0] for each in mistakes(run("check", str(stack_file)))] == ["drift"]


def test_F5_a_project_as_one_key_is_a_mistake(stack_file: Path) -> None:
    stack_file.write_text("config: {coder-stack: {controlPlane: {}}}")
    (mistake,) = mistakes(run("check", str(stack_file)))
    assert "as a key of its own, such as coder-stack:controlPlane" in mistake


@pytest.mark.parametrize("project", ["coderstack", "coder_stack", "Coder-Stack"])
def test_F5_a_project_that_is_spelt_otherwise_is_a_warning(stack_file: Path, project: str) -> None:
    stack_file.write_text(
        f"config: {{{project}:controlplane: {{}}, aws:region: eu, coder-stack:drift: {{}}}}"
    )
    result = run("check", str(stack_file))
    assert result.exit_code == 0
    assert result.stderr == (
        f"warning: {stack_file}: {project}:controlplane: is ignored, as it is of project "
        f"{project}; this one is coder-stack: write coder-stack:controlPlane\n"
    )


@pytest.mark.parametrize(
    "content",
    ["", "# a comment\n", "config:\n", "encryptionsalt: v1:a\n", "config: {aws:region: eu}\n"],
)
def test_F5_a_file_without_settings_is_a_warning(stack_file: Path, content: str) -> None:
    stack_file.write_text(content)
    result = run("check", str(stack_file))
    assert result.exit_code == 0
    assert yaml.safe_load(result.stdout)["controlPlane"]["replicas"] == 1
    assert "no coder-stack:<field> under `config:`, so every setting has its de" in result.stderr


@pytest.mark.parametrize(
    ("content", "key", "lines"),
    [
        ("config:\n  drift: {}\nconfig:\n  access: {}\n", "config", "1 and 3"),
        ("config:\n  drift:\n    maxDeletes: 1\n    maxDeletes: 2\n", "maxDeletes", "3 and 4"),
        ("config:\n  proxies:\n    - name: eu\n      name: us\n", "name", "3 and 4"),
    ],
)
def test_F5_a_key_that_occurs_twice_is_a_mistake(
    stack_file: Path, content: str, key: str, lines: str
) -> None:
    """Seen with `pulumi config`: Pulumi refuses the file. It happens when snippets are pasted."""
    stack_file.write_text(content)
    result = run("check", str(stack_file))
    assert result.exit_code == 1
    assert f"has the key {key} twice, in lines {lines}; keep one" in result.stderr


def test_F5_anchors_and_merges_are_no_repeated_keys(stack_file: Path) -> None:
    stack_file.write_text(
        """
        config:
          provisioners:
            - &one {name: eu, env: &env {A: "1"}}
            - {<<: *one, name: us, env: {<<: *env, A: "2"}}
        """
    )
    result = run("check", str(stack_file))
    assert (result.exit_code, result.stderr) == (0, "")


def test_F5_the_schema_allows_only_the_keys_of_pulumi_at_the_root() -> None:
    schema = json.loads(run("schema").output)
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(PULUMI_KEYS)
