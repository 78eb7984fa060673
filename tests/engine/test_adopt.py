"""docs/adopt.md on a real engine: what happens to Kubernetes objects that are there already."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine_project import Project
from tests.simulation import simulated

pytestmark = pytest.mark.engine
# Not the Service: the API server chose its address, so after an import the plugin makes another.
KINDS = ("deployments", "serviceaccounts", "roles", "rolebindings", "pods")


@pytest.fixture
def newcomer(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """A stack that knows nothing yet, and wants the namespace and names of one that is up."""
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
    with simulated() as coderd, deployed(engine, cluster, coderd, tmp_path / "before") as before:
        before.give("token", coderd.token)
        before.up()
        project = Project.create(engine, cluster, tmp_path / "after", coderd_url=coderd.url)
        project.namespace = before.project.namespace
        stack = Deployed(project, coderd)
        stack.configure()
        stack.give("token", coderd.token)
        yield stack


def identities(stack: Deployed) -> dict[str, str]:
    """Which objects these are, the pods among them."""
    found: dict[str, str] = {}
    for kind in KINDS:
        listed = stack.project.cluster.get(stack.project.path(kind))
        assert listed is not None
        found |= {f"{kind}/{o['metadata']['name']}": o["metadata"]["uid"] for o in listed["items"]}
    assert "deployments/coder" in found
    return found


def test_an_object_that_exists_is_named_and_not_overwritten(newcomer: Deployed) -> None:
    deployment = newcomer.project.path("deployments", "coder")
    before = newcomer.project.cluster.get(deployment)
    newcomer.configure(controlPlane={"createNamespace": False, "labels": {"mine": "yes"}})

    said = newcomer.failure(newcomer.up)
    assert (
        f'"coder" in {newcomer.project.namespace} exists and does not belong to this stack' in said
    )
    assert newcomer.project.cluster.get(deployment) == before


def test_objects_are_imported_from_the_list_that_a_preview_writes(newcomer: Deployed) -> None:
    project, before = newcomer.project, identities(newcomer)
    project.pulumi(
        "up", "--yes", "--target", "**CoderStack::coder", "--target", "**::coder-cluster"
    )
    project.pulumi("preview", "--import-file", "import.json")
    listed = project.folder / "import.json"
    wanted = json.loads(listed.read_text())
    wanted["resources"] = list(edited(wanted["resources"], project.namespace))
    listed.write_text(json.dumps(wanted))
    options = ("--file", "import.json", "--generate-code=false", "--protect=false", "--yes")
    project.pulumi("import", *options)

    newcomer.up()

    assert identities(newcomer) == before, "nothing was made anew, no pod restarted"
    assert newcomer.preview(refresh=True).changes == []


def edited(resources: list[dict[str, Any]], namespace: str) -> Iterator[dict[str, Any]]:
    """What a person does in that file: ids for what exists, and nothing else stays in it."""
    names = {"Role": "coder-workspace-perms", "RoleBinding": "coder-workspace-perms"}
    for each in resources:
        kind = each["type"].split(":")[-1]
        if each.get("component"):
            yield each
        elif kind == "Namespace":
            yield {**each, "id": namespace}
        elif each["type"].startswith("kubernetes:"):
            yield {**each, "id": f"{namespace}/{names.get(kind, 'coder')}"}
