"""`coder-stack admin`: what it shows of a stack's config. Pulumi is a script that knows one."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from coder_stack.cli import command
from tests.http_server import QuietHandler, serve
from tests.provider.api_server import api_server

app = command()

PASSWORD = "Correct-Horse-Battery-1!"
PULUMI = """#!/bin/sh
case "$*" in
  *version*) echo v3.220.0 ;;
  *"stack ls"*) echo '[{"name": "dev", "current": true}]' ;;
  *"config get acme:initialPassword"*) cat password.json ;;
  *"config --json --stack dev"*) cat config.json ;;
  *) echo "error: no stack named 'nobody' found" >&2; exit 1 ;;
esac
"""


class NotFound(QuietHandler):
    """Something answers, though nothing is deployed."""

    def do_GET(self) -> None:
        self.reply(404, b"")


class Folder:
    """A project `acme` with a stack `dev`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def configure(self, *secrets: str, **settings: dict[str, Any]) -> None:
        plain = {f"acme:{k}": {"value": json.dumps(v)} for k, v in settings.items()}
        encrypted = {f"acme:{key}": {"secret": True} for key in secrets}
        (self.path / "config.json").write_text(json.dumps({**plain, **encrypted}))

    def admin(self, *words: str) -> Result:
        return CliRunner().invoke(app, ["admin", "--cwd", str(self.path), *words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    program = tmp_path / "bin" / "pulumi"
    program.parent.mkdir()
    program.write_text(PULUMI)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (tmp_path / "Pulumi.yaml").write_text("name: acme\nruntime: python\n")
    (tmp_path / "password.json").write_text(json.dumps({"value": PASSWORD, "secret": True}))
    return Folder(tmp_path)


def test_F1_the_password_alone_is_printed_so_that_it_can_be_piped(folder: Folder) -> None:
    folder.configure("initialPassword")
    shown = folder.admin("password")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, f"{PASSWORD}\n", "")
    assert folder.admin("password", "--stack", "dev").stdout == f"{PASSWORD}\n"
    assert folder.admin("--stack", "dev", "password").stdout == f"{PASSWORD}\n"


def test_F1_the_url_is_the_access_url_or_else_the_services(folder: Folder) -> None:
    folder.configure("initialPassword", controlPlane={"accessUrl": "https://coder.example.com"})
    assert folder.admin("url").stdout == "https://coder.example.com\n"
    folder.configure("initialPassword", controlPlane={"namespace": "dev"})
    assert folder.admin("url").stdout == "http://coder.dev.svc.cluster.local:80\n"


def test_F1_a_url_that_answers_is_shown_with_the_user_and_the_command(folder: Folder) -> None:
    with serve(NotFound) as port:
        url = f"http://127.0.0.1:{port}"
        folder.configure(
            "initialPassword",
            controlPlane={"accessUrl": url},
            access={"username": "ann", "email": "ann@example.com"},
        )
        shown = folder.admin()
    assert shown.stdout.splitlines() == [
        f"url       {url}",
        "username  ann",
        "email     ann@example.com",
        "password  coder-stack admin password --stack dev",
    ]


@pytest.mark.parametrize(
    ("plane", "target"),
    [
        ({}, "service/coder 8080:80"),
        ({"accessUrl": "https://127.0.0.1:1"}, "service/coder 8080:80"),
        (
            {"name": "c", "namespace": "n", "tls": {"secretNames": ["t"]}},
            "--namespace n port-forward service/c 8080:443",
        ),
    ],
)
def test_F1_where_the_url_cannot_be_opened_the_port_forward_is_shown(
    folder: Folder, plane: dict[str, Any], target: str
) -> None:
    cluster = {"kubeconfig": "my config", "context": "prod"}
    folder.configure("initialPassword", controlPlane=plane, kubernetes=cluster)
    last = folder.admin().stdout.splitlines()[-1]
    assert last.startswith("  kubectl --kubeconfig 'my config' --context prod --namespace ")
    assert last.endswith(target)


@pytest.mark.parametrize(
    ("secrets", "access"), [(["token"], {}), ([], {"tokenSecret": {"name": "owner"}})]
)
def test_F1_a_stack_with_its_own_token_says_that_it_knows_no_password(
    folder: Folder, secrets: list[str], access: dict[str, Any]
) -> None:
    folder.configure(*secrets, access=access)
    sentence = "Stack dev uses its own token and does not know a password."
    refused = folder.admin("password")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == f"error: {sentence}\n"
    shown = folder.admin()
    assert f"password  {sentence}" in shown.stdout
    assert "admin@example.com" not in shown.stdout


@pytest.mark.parametrize(
    ("access", "place", "key"),
    [
        ({"passwordSecret": {"name": "first-user"}}, "coder/first-user", "password"),
        (
            {"passwordSecret": {"name": "s", "namespace": "vault", "key": "pw"}},
            "vault/s",
            "pw",
        ),
        ({}, "coder/coder-operator", "password"),
    ],
    ids=["Secret", "Secret elsewhere", "generated by the first version"],
)
def test_F1_a_password_in_a_secret_is_read_from_the_cluster(
    folder: Folder, access: dict[str, Any], place: str, key: str
) -> None:
    with api_server(folder.path) as cluster:
        relative = Path(cluster.kubeconfig).relative_to(folder.path)
        folder.configure(access=access, kubernetes={"kubeconfig": str(relative)}, controlPlane={})
        cluster.put(place, **{key: PASSWORD})
        shown = folder.admin("password")
        assert (shown.exit_code, shown.stdout) == (0, f"{PASSWORD}\n"), shown.stderr


def test_F1_a_missing_secret_is_one_sentence(folder: Folder) -> None:
    with api_server(folder.path) as cluster:
        access = {"passwordSecret": {"name": "first-user"}}
        folder.configure(access=access, kubernetes={"kubeconfig": cluster.kubeconfig})
        refused = folder.admin("password")
    assert refused.stderr == "error: Secret coder/first-user: it does not exist; create it.\n"


def test_F1_without_a_password_the_command_that_sets_it_is_named(folder: Folder) -> None:
    folder.configure(kubernetes={"kubeconfig": "none"}, controlPlane={})
    refused = folder.admin("password")
    assert refused.stderr == (
        "error: Stack dev has no password; set it with: "
        "pulumi config set --secret initialPassword --stack dev\n"
    )


def test_F1_mistakes_and_missing_things_are_sentences(folder: Folder, tmp_path: Path) -> None:
    folder.configure(controlPlane={"replicas": -1})
    assert "controlPlane.replicas" in folder.admin("url").stderr
    assert "no stack `nobody`" in folder.admin("url", "-s", "nobody").stderr
    (tmp_path / "Pulumi.yaml").unlink()
    assert f"There is no Pulumi.yaml in {tmp_path}; give --cwd." in folder.admin("url").stderr
