"""`coder-stack init` with the real Pulumi: from an empty backend to a stack that is up."""

import os
import pty
import secrets
import select
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.starting import Beginner, Done, at_coderd, begin, in_namespace, with_program
from tests.simulation import license_text, simulated

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]


@pytest.fixture
def beginner(engine: Engine, tmp_path: Path) -> Beginner:
    return with_program(begin(engine, tmp_path))


def context_of(kubeconfig: Path) -> str:
    return yaml.safe_load(kubeconfig.read_text())["current-context"]


def options(cluster: Cluster) -> list[str]:
    kubeconfig = str(cluster.kubeconfig)
    where = ["--kubeconfig", kubeconfig, "--context", context_of(cluster.kubeconfig)]
    return ["init", "--stack", "dev", *where, "--built-in-database"]


def succeeded(done: Done) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_F4_a_stack_from_nothing_is_up_after_the_two_commands_that_init_names(
    beginner: Beginner, cluster: Cluster, tmp_path: Path
) -> None:
    namespace, license_ = f"t-{secrets.token_hex(4)}", license_text()
    (tmp_path / "license.jwt").write_text(f"{license_}\n")
    more = ["--namespace", namespace, "--license", str(tmp_path / "license.jwt")]

    said = succeeded(beginner.coder_stack(*options(cluster), *more))
    assert "==> created stack dev in file://" in said
    assert "`coder-stack admin password --stack dev` shows it" in said
    assert said.endswith("Next:\n  pulumi up --stack dev\n  coder-stack admin --stack dev\n")
    file = beginner.folder / "Pulumi.dev.yaml"
    assert "# ingress: # for the host of accessUrl" in file.read_text(), "comments are kept"

    password = succeeded(beginner.coder_stack("admin", "password")).strip()
    beginner.said.pop(-2)  # the only place where it may stand
    with simulated(fresh=True) as coderd, in_namespace(cluster, coderd, namespace):
        at_coderd(file, coderd)
        succeeded(beginner.pulumi("up", "--stack", "dev", "--yes", "--skip-preview"))
        login = {"email": "admin@example.com", "password": password}
        assert coderd.act("POST", "/api/v2/users/login", login)["session_token"]
        assert len(coderd.license_ids()) == 1
        shown = succeeded(beginner.coder_stack("admin", "--stack", "dev"))
        assert f"--namespace {namespace} port-forward service/coder 8080:80" in shown
        succeeded(beginner.pulumi("destroy", "--stack", "dev", "--yes", "--skip-preview"))

    everywhere = [*beginner.said, beginner.arguments(), beginner.states(), file.read_text()]
    for secret in (password, license_):
        assert not any(secret in text for text in everywhere)


def test_F4_a_second_run_changes_nothing_and_only_force_writes_the_file_anew(
    beginner: Beginner, cluster: Cluster
) -> None:
    succeeded(beginner.coder_stack(*options(cluster)))
    file = beginner.folder / "Pulumi.dev.yaml"
    before = file.read_text()
    password = beginner.coder_stack("admin", "password", "--stack", "dev").stdout

    said = succeeded(beginner.coder_stack(*options(cluster), "--username", "ann"))
    assert "==> selected stack dev" in said
    assert "==> Pulumi.dev.yaml is kept as it is; --force writes it anew" in said
    assert file.read_text() == before

    succeeded(beginner.coder_stack("init", "--stack", "dev"))
    assert file.read_text() == before, "without options it repeats the checks"

    succeeded(beginner.coder_stack(*options(cluster), "--username", "ann", "--force"))
    assert "username: ann" in file.read_text()
    assert beginner.coder_stack("admin", "password", "--stack", "dev").stdout == password


def test_F4_a_file_that_pulumi_made_is_completed_and_a_password_of_ones_own_is_kept(
    beginner: Beginner, cluster: Cluster
) -> None:
    beginner.pulumi("stack", "init", "dev")
    chosen = "Correct-Horse-Battery-1!"
    subprocess.run(
        ["pulumi", "config", "set", "--secret", "initialPassword", "--stack", "dev"],
        cwd=beginner.folder,
        env=beginner.environment,
        input=chosen,
        text=True,
        check=True,
        capture_output=True,
    )
    said = succeeded(beginner.coder_stack(*options(cluster), "--force"))
    assert "generated" not in said
    assert beginner.coder_stack("admin", "password").stdout == f"{chosen}\n"


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("PULUMI_BACKEND_URL", "error: Pulumi is not logged in to a backend"),
        (
            "PULUMI_CONFIG_PASSPHRASE",
            "error: The stack's secrets need a passphrase.\n  next: Set PULUMI_",
        ),
    ],
)
def test_F4_without_a_login_or_a_passphrase_it_says_so_and_leaves_nothing(
    beginner: Beginner, tmp_path: Path, missing: str, sentence: str
) -> None:
    del beginner.environment[missing]
    before = sorted(beginner.folder.iterdir())
    (tmp_path / "kubeconfig").write_text("")
    where = ["--kubeconfig", str(tmp_path / "kubeconfig"), "--context", "c"]
    refused = beginner.coder_stack("init", "-s", "dev", *where, "--built-in-database")
    assert refused.returncode == 1
    assert refused.stderr.startswith(sentence)
    assert sorted(beginner.folder.iterdir()) == before


def test_F4_a_cluster_that_does_not_answer_is_named_and_the_next_run_continues(
    beginner: Beginner, cluster: Cluster, tmp_path: Path
) -> None:
    content = yaml.safe_load(cluster.kubeconfig.read_text())
    right = content["clusters"][0]["cluster"]["server"]
    content["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(content))
    where = ["--kubeconfig", str(kubeconfig), "--context", content["current-context"]]

    refused = beginner.coder_stack("init", "-s", "dev", *where, "--built-in-database")
    assert refused.returncode == 1
    assert "not ready to deploy; correct this and run it again:" in refused.stderr
    assert "the API server https://127.0.0.1:1" in refused.stderr
    assert "Traceback" not in refused.stderr

    content["clusters"][0]["cluster"]["server"] = right
    kubeconfig.write_text(yaml.safe_dump(content))
    assert "the cluster answers" in succeeded(beginner.coder_stack("init", "-s", "dev"))


def test_F4_on_a_terminal_it_asks(beginner: Beginner, cluster: Cluster) -> None:
    """With a real terminal: prompts are for people, and a password is not echoed."""
    password = "Correct-Horse-Battery-1!"
    answers = [
        "Name of the stack", "dev",
        "Context in the kubeconfig", "",
        "URL that people open", "https://coder.example.com",
        "Class of its Ingress", "nginx",
        "File with the license", "",
        "E-mail address of the first user", "ann@example.com",
        "Database (secret, ", "mysql",
        "There is no 'mysql'", "built-in",
        "Password of coderd's first user", password,
        "The same again", password,
    ]  # fmt: skip
    environment = {**beginner.environment, "KUBECONFIG": str(cluster.kubeconfig)}
    code, said = converse(["init"], beginner.folder, environment, answers)
    assert code == 0, said
    assert password not in said

    config = yaml.safe_load((beginner.folder / "Pulumi.dev.yaml").read_text())["config"]
    assert config["coder-stack:kubernetes"] == {"context": context_of(cluster.kubeconfig)}
    assert config["coder-stack:controlPlane"]["accessUrl"] == "https://coder.example.com"
    assert config["coder-stack:controlPlane"]["ingress"] == {"className": "nginx"}
    assert "database" not in config["coder-stack:controlPlane"]
    assert config["coder-stack:access"]["email"] == "ann@example.com"
    assert beginner.coder_stack("admin", "password").stdout == f"{password}\n"


def converse(
    words: list[str], folder: Path, environment: dict[str, str], answers: list[str]
) -> tuple[int, str]:
    """Run `coder-stack` on a terminal; type each answer once its question is there.

    Wait for the space after the colon: a hidden prompt discards what was typed before it.
    """
    ours, theirs = pty.openpty()
    said, unread, waiting = "", "", list(zip(answers[::2], answers[1::2], strict=True))
    with subprocess.Popen(
        [sys.executable, "-m", "coder_stack.cli", *words],
        cwd=folder,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        while piece := read_from(ours):
            said, unread = said + piece, unread + piece
            if waiting and waiting[0][0] in unread and unread.endswith(": "):
                os.write(ours, f"{waiting.pop(0)[1]}\n".encode())
                unread = ""
        os.close(ours)  # hangs up on a process that waits for an answer
    assert not waiting, f"never asked: {waiting[0][0]}; said: {said}"
    return process.returncode, said


def read_from(terminal: int) -> str:
    """Return what was printed; an empty text at the end, or if nothing comes any more."""
    ready, _, _ = select.select([terminal], [], [], 180)
    try:
        return os.read(terminal, 4096).decode(errors="replace") if ready else ""
    except OSError:  # Linux: the other side has closed it
        return ""
