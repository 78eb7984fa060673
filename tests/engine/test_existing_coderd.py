"""Beside a coderd that is there already: one that Helm deploys, and one of another stack."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pulumi import automation as auto

from sandbox.engine import Engine
from sandbox.pods import simulate_pods
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import coder_stack
from tests.engine.helm_release import Release
from tests.simulation import Simulation, license_text, simulated

pytestmark = pytest.mark.engine
SYDNEY = {"name": "sydney", "accessUrl": "https://sydney.example.com"}


@pytest.fixture
def coderd() -> Iterator[Simulation]:
    with simulated(licensed=True) as coderd:
        yield coderd


def exit_code(stack: Deployed, command: str) -> int:
    done = coder_stack(stack.project, command, "--stack", stack.project.stack.name)
    assert done.returncode in (0, 2), done.stderr
    return done.returncode


def test_M3_beside_helm_everything_works_and_nothing_of_the_release_is_touched(
    engine: Engine, cluster: Cluster, coderd: Simulation, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        "controlPlane": {"deploy": False, "accessUrl": coderd.url},
        "access": {},
        "provisioners": [{"name": "eu"}],
        "proxies": [SYDNEY],
    }
    with deployed(engine, cluster, coderd, tmp_path, **settings) as stack:
        release = Release(stack.project)
        release.install()
        before = release.seen()
        stack.give("token", coderd.token)
        stack.give("licenseJwt", license_text())

        stack.up()
        assert stack.unmet() == []
        assert stack.condition("controlPlane", "ControlPlaneReady") == ("True", "Healthy")
        assert exit_code(stack, "drift") == 0

        # What Helm does with its own is not the stack's; what is done to the stack's own is.
        path = stack.project.path("deployments", "coder")
        cluster.patch(path, {"spec": {"replicas": 2}})
        assert exit_code(stack, "drift") == 0
        cluster.patch(path, {"spec": {"replicas": 1}})
        before["deployments"]["metadata"]["generation"] += 2
        cluster.delete(stack.project.path("secrets", "eu-provisioner-key"))
        (key,) = stack.key_records()
        del coderd.state.records.provisioner_keys[key.id]
        assert exit_code(stack, "drift") == 2
        assert exit_code(stack, "reconcile") == 0
        assert stack.unmet() == []
        assert release.seen() == before

        stack.destroy()
        assert stack.key_records() == []
        assert release.seen() == before
        left = set(cluster.names(stack.project.path("secrets")))
        assert left == {"sh.helm.release.v1.coder.v1"}


@pytest.fixture
def satellite(
    engine: Engine, cluster: Cluster, coderd: Simulation, tmp_path: Path
) -> Iterator[tuple[Deployed, Deployed]]:
    """A stack that deploys coderd, up; and one of the same project that takes it from there."""
    plane = {"accessUrl": coderd.url}
    fleet = [{"name": "eu"}]
    with deployed(
        engine, cluster, coderd, tmp_path, controlPlane=plane, provisioners=fleet
    ) as first:
        first.give("token", coderd.token)
        first.give("licenseJwt", license_text())
        project = first.project
        name = f"{project.stack.name}-au"
        workspace = project.stack.workspace
        stack = auto.create_stack(
            stack_name=name,
            work_dir=workspace.work_dir,
            opts=auto.LocalWorkspaceOptions(
                env_vars=workspace.env_vars,
                pulumi_home=workspace.pulumi_home,
                pulumi_command=workspace.pulumi_command,
            ),
        )
        second = Deployed(replace(project, stack=stack, namespace=name), coderd)
        origin = f"organization/coder-stack/{project.stack.name}"
        second.configure(
            controlPlane={"fromStack": origin},
            access={},
            provisioners=[{"name": "au"}],
            proxies=[SYDNEY],
        )
        second.give("token", coderd.token)
        cluster.create("/api/v1/namespaces", {"metadata": {"name": name}})
        with simulate_pods(cluster.kubeconfig, name, coderd.url):
            yield first, second
        second.assert_nothing_leaked()
        cluster.delete(f"/api/v1/namespaces/{name}")


def test_M4_a_satellite_takes_coderd_from_the_other_stack_and_leaves_it_clean(
    satellite: tuple[Deployed, Deployed],
) -> None:
    first, second = satellite
    _, failure = second.project.attempt("up", "--yes", "--skip-preview")
    said = f"controlPlane.fromStack: stack {second.settings['controlPlane']['fromStack']}"
    assert f"{said} has no outputs yet" in str(failure)
    assert "Traceback" not in str(failure)

    first.up()
    second.up()
    assert (first.unmet(), second.unmet()) == ([], [])
    outputs = [each.project.outputs() for each in satellite]
    shared = ("accessUrl", "image", "deploymentId", "coderdVersion")
    assert [{key: each.get(key) for key in shared} for each in outputs[1:]] == [
        {key: outputs[0].get(key) for key in shared}
    ]
    assert sorted(key.name[:2] for key in first.key_records()) == ["au", "eu"]
    assert [exit_code(each, "drift") for each in satellite] == [0, 0]

    second.destroy()
    assert [key.name[:2] for key in first.key_records()] == ["eu"]
    assert exit_code(first, "drift") == 0
    assert first.unmet() == []
