"""The file that `coder-stack init` writes: valid for every choice, commented, free of secrets."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from coder_stack.cli import command
from coder_stack.settings import Settings, load
from coder_stack.settings.stack_file import read_stack_file
from coder_stack.start.template import DATABASES, SECRET, FirstStack, kept, render

app = command()

CHOICES: dict[str, tuple[Any, ...]] = {
    "project": ("coder-stack", "acme"),
    "database": DATABASES,
    "context": (None, "arn:aws:eks:eu:1:cluster/x", "ann@my: cluster"),
    "kubeconfig": (None, "~/.kube/some config"),
    "exposed": ("no", "url", "ingress", "tls"),
    "license_secret": (None, "coder-license"),
}
EXPOSED: dict[str, dict[str, str]] = {
    "no": {},
    "url": {"access_url": "https://coder.example.com"},
    "ingress": {"access_url": "https://coder.example.com", "ingress_class": "nginx"},
    "tls": {
        "access_url": "https://coder.example.com",
        "ingress_class": "nginx",
        "tls_secret": "coder-tls",
    },
}
COMBINATIONS = [
    dict(zip(CHOICES, values, strict=True)) for values in itertools.product(*CHOICES.values())
]


def first_stack(exposed: str = "no", **answers: Any) -> FirstStack:
    given = {"project": "coder-stack", "stack": "dev", "database": SECRET, **answers}
    return FirstStack(**given, **EXPOSED[exposed])


def settings_of(text: str, folder: Path, project: str = "coder-stack") -> Settings:
    file = folder / "Pulumi.dev.yaml"
    file.write_text(text)
    read = read_stack_file(file, project)
    return load(read.texts, project, read.secret_keys)


def check(folder: Path, text: str, project: str) -> Result:
    (folder / "Pulumi.yaml").write_text(f"name: {project}\nruntime: python\n")
    (folder / "Pulumi.dev.yaml").write_text(text)
    return CliRunner().invoke(app, ["config", "check", str(folder / "Pulumi.dev.yaml")])


def test_F4_the_file_is_valid_for_every_combination_and_says_what_was_chosen(
    tmp_path: Path,
) -> None:
    for answers in COMBINATIONS:
        first = first_stack(**answers)
        settings = settings_of(render(first), tmp_path, first.project)
        plane = settings.control_plane
        assert settings.kubernetes.context == first.context
        assert settings.kubernetes.kubeconfig == first.kubeconfig
        assert plane.access_url == first.access_url
        assert (plane.ingress and plane.ingress.class_name) == first.ingress_class
        assert (plane.ingress and plane.ingress.tls_secret_name) == first.tls_secret
        assert (settings.license.secret and settings.license.secret.name) == first.license_secret
        assert (plane.database is not None) == (first.database != "built-in")


@pytest.mark.parametrize("project", CHOICES["project"])
@pytest.mark.parametrize("database", CHOICES["database"])
def test_F4_config_check_accepts_the_file_in_a_project_of_any_name(
    tmp_path: Path, project: str, database: str
) -> None:
    text = render(first_stack("tls", project=project, database=database, context="c"))
    result = check(tmp_path, text, project)
    assert (result.exit_code, result.stderr) == (0, "")
    assert yaml.safe_load(result.stdout)["controlPlane"]["ingress"]["tlsSecretName"] == "coder-tls"


def test_F4_what_was_not_chosen_is_a_comment_and_no_secret_is_in_it() -> None:
    text = render(first_stack(context="c"))
    for comment in (
        "# accessUrl: https://coder.example.com",
        "# ingress: ",
        "# replicas: 2",
        "# coder-stack:provisioners:",
        "pulumi config set --secret licenseJwt < license.jwt",
    ):
        assert comment in text
    assert "secure:" not in text
    assert text.startswith("# yaml-language-server: $schema=docs/configuration.schema.json\n")


@pytest.mark.parametrize("commented", ["accessUrl", "ingress"])
def test_F4_a_comment_becomes_config_when_its_mark_is_removed(
    tmp_path: Path, commented: str
) -> None:
    lines = render(first_stack(context="c")).splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"    # {commented}"))
    wanted = [begin, begin + 1] if commented == "ingress" else [begin]
    wanted += [i for i, line in enumerate(lines) if line.startswith("    # accessUrl")]
    for index in set(wanted):
        lines[index] = lines[index].replace("# ", "", 1)
    plane = settings_of("\n".join(lines), tmp_path).control_plane
    assert plane.access_url == "https://coder.example.com"
    assert commented != "ingress" or plane.ingress is not None


def test_F4_a_file_that_is_written_anew_keeps_secrets_and_how_to_decrypt_them(
    tmp_path: Path,
) -> None:
    secure = {"secure": "v1:" + "x" * 200}
    old = {
        "encryptionsalt": "v1:salt",
        "secretsprovider": "passphrase",
        "config": {
            "coder-stack:initialPassword": secure,
            "coder-stack:controlPlane": {"replicas": 7},
            "aws:region": "eu",
        },
    }
    text = kept(render(first_stack(context="c")), yaml.safe_dump(old), "coder-stack")
    new = yaml.safe_load(text)
    assert new["encryptionsalt"] == "v1:salt"
    assert new["secretsprovider"] == "passphrase"
    assert new["config"]["coder-stack:initialPassword"] == secure
    assert settings_of(text, tmp_path).control_plane.replicas == 1
    assert new["config"]["aws:region"] == "eu"
    assert kept(text, "", "coder-stack") == text


def test_the_answers_have_the_defaults_of_the_config() -> None:
    fields = {field.name: field.default for field in dataclasses.fields(FirstStack)}
    settings = Settings()
    assert fields["namespace"] == settings.control_plane.namespace
    assert (fields["username"], fields["email"]) == (
        settings.access.username,
        settings.access.email,
    )
