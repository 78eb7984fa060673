"""What the config refers to and the cluster lacks, on the real engine (F2)."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.certificates import certificate
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import report_of
from tests.simulation import simulated

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
DATABASE = {"secretName": "db"}
ITEM = {"key": "k", "path": "k"}


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    with simulated(fresh=True) as coderd, deployed(engine, cluster, coderd, tmp_path) as stack:
        yield stack


def commands(said: str) -> list[str]:
    """The commands at the ends of the lines that an error lists."""
    lines = re.findall(r"^ +- (?:[a-zA-Z]+\.)+.*: (kubectl .*)$", said, re.MULTILINE)
    return list(dict.fromkeys(line.partition("; or ")[0] for line in lines))


def run(command: str, **values: str) -> None:
    """Run it as a person does who fills in the values."""
    for option, value in values.items():
        command = command.replace(f"--{option}=…", f"--{option}={value}")
    words = [word.replace("…", "something") for word in shlex.split(command)]
    subprocess.run(words, check=True, capture_output=True, text=True)


def test_F2_all_is_told_before_anything_is_registered_and_the_commands_help(
    stack: Deployed, tmp_path: Path
) -> None:
    project = stack.project
    labs = f"{project.namespace}-labs"
    plane: dict[str, Any] = {
        "createNamespace": False,
        "database": DATABASE,
        "workspaceNamespaces": [labs],
        "tls": {"secretNames": ["cert"]},
        "caBundles": [{"name": "ca", "key": "ca.crt"}],
        "volumes": [{"name": "v", "configMap": {"name": "more", "items": [ITEM]}}],
        "image": {"pullSecrets": ["registry"]},
    }
    stack.configure(controlPlane=plane)

    said = stack.failure(stack.preview)
    assert "7 mistakes in the stack's config; nothing was changed:" in said
    assert "Traceback" not in said
    assert said.count("create it: kubectl ") == 7
    assert [each["type"] for each in project.state().get("resources", [])] in (
        [],
        ["pulumi:pulumi:Stack"],
    )

    cert, key = certificate(tmp_path, "cert")
    file = tmp_path / "ca.crt"
    file.write_text("a certificate")
    for command in commands(said):
        run(command.replace("ca.crt=…", f"ca.crt={file}"), cert=str(cert), key=str(key))
    try:
        assert stack.preview().ops("Deployment") == ["create"], "no mistake is left"
    finally:
        project.cluster.delete(f"/api/v1/namespaces/{labs}")


def test_F2_a_namespace_of_somebody_else_is_told_and_may_be_handed_over(stack: Deployed) -> None:
    project, namespace = stack.project, f"/api/v1/namespaces/{stack.project.namespace}"
    project.cluster.create("/api/v1/namespaces", {"metadata": {"name": project.namespace}})

    said = stack.failure(stack.up)
    line = f"namespace {project.namespace} exists, and this stack did not create it; set createN"
    assert line in said
    assert project.state().get("resources", [])[1:] == [], "nothing but the stack"

    (annotate,) = commands(said)
    run(annotate)
    stack.up()
    assert stack.unmet() == []
    stack.destroy()
    assert project.cluster.get(namespace) is None


def test_F2_D1_a_deployment_that_is_gone_is_repaired_and_is_no_mistake(stack: Deployed) -> None:
    """Without it the stack looks as before its first deployment; its namespace has its mark."""
    stack.up()
    stack.project.cluster.delete(stack.project.path("deployments", "coder"))
    assert stack.preview(refresh=True).ops("Deployment") == ["create"]
    stack.up(refresh=True)
    assert stack.unmet() == []


def test_F2_a_secret_that_goes_later_is_named_by_drift_and_does_not_hinder_a_destroy(
    stack: Deployed,
) -> None:
    project = stack.project
    stack.up()
    body = {"metadata": {"name": "db"}, "stringData": {"url": "postgres://db.invalid/coder"}}
    project.cluster.create(project.path("secrets"), body)
    stack.configure(controlPlane={"database": DATABASE})
    stack.up()
    assert report_of(stack, "drift")[0] == 0

    project.cluster.delete(project.path("secrets", "db"))
    code, report = report_of(stack, "drift")
    assert (code, report["result"]) == (1, "error")
    assert f"Secret {project.namespace}/db does not exist; create it: " in report["error"]
    assert f"Secret {project.namespace}/db does not exist" in stack.failure(stack.up)

    stack.destroy()
    assert project.cluster.get(f"/api/v1/namespaces/{project.namespace}") is None
