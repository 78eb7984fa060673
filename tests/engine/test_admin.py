"""Log in to what a stack deployed: the password is where people find it, and nowhere else."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import coder_stack
from tests.simulation import simulated

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
EMAIL = "ann@example.com"
PASSWORD = "Correct-Horse-Battery-1!"


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """A coderd that nobody has set up yet. At the end, nothing may have leaked."""
    with (
        simulated(fresh=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path) as stack,
    ):
        stack.configure(access={"url": coderd.url, "username": "ann", "email": EMAIL})
        stack.project.pulumi("stack", "select")
        yield stack


def admin(stack: Deployed, *words: str) -> str:
    done = coder_stack(stack.project, "admin", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def logs_in(stack: Deployed, password: str) -> bool:
    login = {"email": EMAIL, "password": password}
    return bool(stack.coderd.act("POST", "/api/v2/users/login", login)["session_token"])


def test_F1_the_password_of_the_config_logs_in_and_is_in_no_file_or_event_in_plain_text(
    stack: Deployed,
) -> None:
    stack.give("initialPassword", PASSWORD)
    stack.up()
    stack.up(refresh=True)

    shown = admin(stack, "password")
    assert shown == f"{PASSWORD}\n"
    assert logs_in(stack, shown.strip())
    assert stack.project.outputs()["adminPassword"] == PASSWORD
    assert stack.project.outputs()["admin"]["email"] == EMAIL

    masked = json.loads(stack.project.pulumi("stack", "output", "--json").stdout)
    assert masked["adminPassword"] == "[secret]"
    exported = stack.project.pulumi("stack", "export").stdout
    (root,) = [
        each
        for each in json.loads(exported)["deployment"]["resources"]
        if each["type"] == "pulumi:pulumi:Stack"
    ]
    assert "ciphertext" in root["outputs"]["adminPassword"], "encrypted in the state"
    for command in ("drift", "status"):
        done = coder_stack(stack.project, command, "--stack", stack.project.stack.name)
        stack.said += [done.stdout, done.stderr]
    stack.said += [exported, json.dumps(masked), admin(stack)]
    assert PASSWORD in stack.secrets, "which the fixture now searches for"


def test_F1_the_selected_stack_is_the_default_and_its_outputs_say_the_same(
    stack: Deployed,
) -> None:
    stack.configure(controlPlane={"accessUrl": stack.coderd.url})
    stack.up()
    outputs = stack.project.outputs()
    assert outputs["accessUrl"] == outputs["admin"]["url"] == stack.coderd.url
    assert admin(stack, "url") == f"{stack.coderd.url}\n"
    lines = admin(stack).splitlines()
    assert lines[:3] == [f"url       {stack.coderd.url}", "username  ann", f"email     {EMAIL}"]
    assert not any("port-forward" in line for line in lines), "coderd answers at its URL"


def test_F1_a_password_in_a_secret_is_read_there_and_is_no_output(stack: Deployed) -> None:
    project = stack.project
    place = {"name": project.namespace}
    project.cluster.create("/api/v1/namespaces", {"metadata": place})
    data = {"password": base64.b64encode(PASSWORD.encode()).decode()}
    secret = {"metadata": {"name": "first-user"}, "data": data}
    project.cluster.create(project.path("secrets"), secret)
    access = {"url": stack.coderd.url, "email": EMAIL, "passwordSecret": {"name": "first-user"}}
    stack.configure(access=access, controlPlane={"createNamespace": False})
    stack.secrets.add(PASSWORD)
    stack.up()

    assert admin(stack, "password") == f"{PASSWORD}\n"
    assert logs_in(stack, PASSWORD)
    assert "adminPassword" not in project.outputs()
