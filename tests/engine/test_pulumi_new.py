"""`pulumi new` with this repository as the template: a project of another name that works."""

import json
import secrets
import shutil
from pathlib import Path

import pytest
import yaml

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.starting import (
    Beginner,
    at_coderd,
    begin,
    copy_checkout,
    in_namespace,
    with_program,
)
from tests.engine.test_init import context_of, succeeded
from tests.project_environment import lay_environment
from tests.simulation import simulated

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]
# Answers for pip, which would download everything; records what it was asked.
PIP = """
import sys, pathlib
pathlib.Path({log!r}).open("a").write(" ".join(sys.argv[1:]) + "\\n")
"""


@pytest.fixture
def beginner(engine: Engine, tmp_path: Path) -> Beginner:
    beginner = begin(engine, tmp_path)
    pip = tmp_path / "stand-in" / "pip"
    pip.mkdir(parents=True)
    (pip / "__init__.py").write_text("")
    (pip / "__main__.py").write_text(PIP.format(log=str(tmp_path / "pip-asked")))
    return beginner


@pytest.fixture
def template(tmp_path: Path) -> Path:
    folder = tmp_path / "coder-stack-template"
    copy_checkout(folder)
    return folder


def test_F4_generate_only_copies_the_files_and_renames_the_project(
    beginner: Beginner, template: Path
) -> None:
    words = ("new", str(template), "--name", "acme", "--yes", "--generate-only")
    said = succeeded(beginner.pulumi(*words))
    assert "Created project 'acme'" in said
    assert "coder-stack init" in said, "the quick start is shown"
    project = yaml.safe_load((beginner.folder / "Pulumi.yaml").read_text())
    assert project["name"] == "acme"
    assert project["runtime"]["options"] == {"toolchain": "pip", "virtualenv": ".venv"}
    assert "template" not in project
    assert (beginner.folder / "coder_stack" / "stack.py").exists()


def test_F4_a_project_of_another_name_works_from_new_to_destroy(
    beginner: Beginner, template: Path, cluster: Cluster, tmp_path: Path
) -> None:
    namespace = f"t-{secrets.token_hex(4)}"
    config = {
        "kubernetes.kubeconfig": str(cluster.kubeconfig),
        "kubernetes.context": context_of(cluster.kubeconfig),
        "controlPlane.namespace": namespace,
    }
    given = [word for key, value in config.items() for word in ("-c", f"{key}={value}")]
    words = ("new", str(template), "--name", "acme", "--stack", "dev", "--yes", "--config-path")
    said = succeeded(beginner.pulumi(*words, *given, PYTHONPATH=str(tmp_path / "stand-in")))
    assert "Saved config" in said
    assert "Your new project is ready to go!" in said
    asked = (tmp_path / "pip-asked").read_text()
    assert "-r requirements.txt" in asked, "so the locked packages are installed"
    file = beginner.folder / "Pulumi.dev.yaml"
    assert yaml.safe_load(file.read_text())["config"]["acme:controlPlane"] == {
        "namespace": namespace
    }
    use_checkouts_environment(beginner.folder)

    succeeded(beginner.coder_stack("init", "--stack", "dev"))
    content = yaml.safe_load(file.read_text())
    assert "secure" in content["config"]["acme:initialPassword"]
    assert succeeded(beginner.coder_stack("config", "check", "Pulumi.dev.yaml"))
    with simulated(fresh=True) as coderd, in_namespace(cluster, coderd, namespace):
        content["config"]["acme:access"] = {"url": coderd.url}
        file.write_text(yaml.safe_dump(content))
        works(beginner, "acme")
        password = succeeded(beginner.coder_stack("admin", "password")).strip()
        login = {"email": "admin@example.com", "password": password}
        assert coderd.act("POST", "/api/v2/users/login", login)["session_token"]
        removed = beginner.pulumi("destroy", "--stack", "dev", "--yes", "--skip-preview")
        assert "by hand" not in succeeded(removed)
        names = [key.token_name for key in coderd.state.records.api_keys.values()]
        assert [name for name in names if name.startswith("coder-stack")] == []


def test_F4_files_for_the_project_coder_stack_work_in_a_project_of_another_name(
    beginner: Beginner, cluster: Cluster
) -> None:
    """As a copy of examples/ does, or of another checkout's config."""
    namespace = f"t-{secrets.token_hex(4)}"
    with_program(beginner, "coder-stack")
    where = ["--kubeconfig", str(cluster.kubeconfig), "--context", context_of(cluster.kubeconfig)]
    more = ["--namespace", namespace, "--built-in-database"]
    succeeded(beginner.coder_stack("init", "-s", "dev", *where, *more))
    project = beginner.folder / "Pulumi.yaml"
    project.write_text(project.read_text().replace("name: coder-stack", "name: acme", 1))
    succeeded(beginner.pulumi("stack", "init", "dev"))
    with simulated(fresh=True) as coderd, in_namespace(cluster, coderd, namespace):
        at_coderd(beginner.folder / "Pulumi.dev.yaml", coderd)
        works(beginner, "coder-stack")
        succeeded(beginner.pulumi("destroy", "--stack", "dev", "--yes", "--skip-preview"))


def works(beginner: Beginner, namespace: str) -> None:
    """Deploy the stack; then nothing is to be changed, and nothing has drifted."""
    succeeded(beginner.pulumi("up", "--stack", "dev", "--yes", "--skip-preview"))
    outputs = json.loads(succeeded(beginner.pulumi("stack", "output", "--json", "-s", "dev")))
    assert outputs["ready"] == "True"
    assert outputs["adminPassword"] == "[secret]"
    code = beginner.coder_stack("drift", "--stack", "dev").returncode
    assert code == 0
    text = (beginner.folder / "Pulumi.dev.yaml").read_text()
    assert f"{namespace}:initialPassword" in text


def use_checkouts_environment(folder: Path) -> None:
    """Replace what `pulumi new` installed by the checkout's packages."""
    for made in ("bin", "lib", "lib64", "include", ".venv"):
        made_folder = folder / made
        if made_folder.is_symlink():
            made_folder.unlink()
        elif made_folder.exists():
            shutil.rmtree(made_folder)
    (folder / "pyvenv.cfg").unlink(missing_ok=True)
    lay_environment(folder / ".venv")
