"""coderd's database as a Cluster of CloudNativePG, on a cluster that serves the kind.

tests/database_operator.py plays the operator. The data is what the API server keeps under a uid.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.database_operator import PASSWORD, DatabaseOperator, database_operator
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import coder_stack
from tests.simulation import simulated

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("extended")]


@pytest.fixture
def stack(engine: Engine, extended_cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    with (
        simulated(fresh=True) as coderd,
        deployed(engine, extended_cluster, coderd, tmp_path) as stack,
    ):
        stack.secrets.add(PASSWORD)
        declare(stack)
        yield stack


@pytest.fixture
def operator(stack: Deployed) -> Iterator[DatabaseOperator]:
    with database_operator(stack.project.cluster, stack.project.namespace) as operator:
        yield operator


def declare(stack: Deployed, **database: Any) -> None:
    stack.configure(controlPlane={"database": {"cloudNativePg": database}})


def live(stack: Deployed, name: str = "coder-database") -> dict[str, Any] | None:
    return stack.project.cluster.get(stack.project.path("clusters", name))


def uids(stack: Deployed) -> tuple[str, str]:
    """Those of the database and of its namespace."""
    database = live(stack)
    namespace = stack.project.cluster.get(f"/api/v1/namespaces/{stack.project.namespace}")
    assert database is not None
    assert namespace is not None
    return database["metadata"]["uid"], namespace["metadata"]["uid"]


def warnings(stack: Deployed) -> str:
    return " ".join(each for each in stack.preview().events if '"severity":"warning"' in each)


def deployment(stack: Deployed) -> dict[str, Any] | None:
    return stack.project.cluster.get(stack.project.path("deployments", "coder"))


def test_F3_coderd_starts_when_its_database_is_ready(
    stack: Deployed, operator: DatabaseOperator
) -> None:
    seen: list[object] = []
    operator.before_ready = lambda: seen.append(deployment(stack))
    declare(stack, instances=2)
    stack.up()
    assert seen == [None], "the Deployment waits"
    made = deployment(stack)
    assert made is not None
    (container,) = made["spec"]["template"]["spec"]["containers"]
    env = {each["name"]: each.get("valueFrom") for each in container["env"]}
    secret = {"name": "coder-database-app", "key": "uri"}
    assert env["CODER_PG_CONNECTION_URL"] == {"secretKeyRef": secret}
    assert stack.condition("controlPlane", "DatabaseReady") == ("True", "Ready")
    assert stack.unmet() == []
    assert stack.preview(refresh=True).changes == []


def test_F3_a_destroyed_stack_keeps_its_database_and_the_next_one_takes_it_over(
    stack: Deployed, operator: DatabaseOperator
) -> None:
    stack.up()
    before = uids(stack)
    stack.destroy()
    assert deployment(stack) is None
    assert uids(stack) == before, "database and namespace outlive the stack"
    assert stack.project.state().get("resources", []) == []

    stack.up()
    assert uids(stack) == before, "the same data"
    assert stack.condition("controlPlane", "DatabaseReady") == ("True", "Ready")
    assert stack.preview(refresh=True).changes == []

    declare(stack, deletion="delete")
    stack.up()
    stack.destroy()
    assert live(stack) is None
    assert stack.project.cluster.get(f"/api/v1/namespaces/{stack.project.namespace}") is None


def test_F3_a_database_that_left_the_config_is_kept_and_named(
    stack: Deployed, operator: DatabaseOperator
) -> None:
    stack.up()
    before = uids(stack)
    elsewhere = {"metadata": {"name": "elsewhere"}, "stringData": {"url": "postgres://db.test"}}
    stack.project.cluster.create(stack.project.path("secrets"), elsewhere)
    stack.configure(controlPlane={"database": {"secretName": "elsewhere"}})
    stack.up()
    assert uids(stack) == before
    home = stack.project.namespace
    told = (
        f"controlPlane.database: Cluster coder-database in namespace {home} is no longer part of "
        "the config; it is kept with its data, and so is the namespace. When you no longer need "
        f"it: kubectl -n {home} delete clusters.postgresql.cnpg.io coder-database"
    )
    assert told in warnings(stack)
    stack.up()
    stack.destroy()
    assert uids(stack) == before, "the namespace is not deleted over it"

    declare(stack)
    stack.up()
    assert uids(stack) == before, "and it can be taken back"


def test_F3_another_name_is_another_database_beside_the_first(
    stack: Deployed, operator: DatabaseOperator
) -> None:
    stack.up()
    declare(stack, name="second")
    seen = stack.preview()
    assert "replace" in str(seen.ops("Cluster"))
    stack.up()
    assert live(stack) is not None
    assert live(stack, "second") is not None
    assert "Cluster coder-database in namespace" in warnings(stack)


def test_F3_a_database_that_does_not_become_ready_is_named_with_its_phase(
    stack: Deployed, operator: DatabaseOperator
) -> None:
    operator.stuck = "Waiting for the instances to become active"
    declare(stack, waitSeconds=3)
    told = stack.failure(stack.up)
    home = stack.project.namespace
    assert (
        f"The database, Cluster coder-database in namespace {home}, is not ready: its phase is "
        f'"Waiting for the instances to become active". See: kubectl -n {home} describe '
        "clusters.postgresql.cnpg.io coder-database"
    ) in " ".join(told.split())
    assert deployment(stack) is None, "coderd does not start without its database"

    operator.stuck = ""
    stack.up()
    assert stack.unmet() == []


def test_F3_storage_cannot_shrink(stack: Deployed, operator: DatabaseOperator) -> None:
    stack.up()
    declare(stack, storage="20Gi")
    stack.up()
    declare(stack, storage="5Gi")
    assert "can't shrink existing storage from 20Gi to 5Gi" in stack.failure(stack.preview)


def test_F3_drift_of_the_database_is_named(stack: Deployed, operator: DatabaseOperator) -> None:
    stack.up()
    name = stack.project.stack.name
    clean = coder_stack(stack.project, "drift", "--stack", name)
    assert clean.returncode == 0, clean.stdout + clean.stderr

    path = stack.project.path("clusters", "coder-database")
    with stack.project.cluster.http() as http:
        http.patch(
            path,
            json={"spec": {"instances": 2}},
            headers={"Content-Type": "application/merge-patch+json"},
        ).raise_for_status()
    changed = coder_stack(stack.project, "drift", "--stack", name)
    assert changed.returncode == 2, changed.stdout + changed.stderr
    assert "Cluster `coder-database` was changed in the cluster: spec.instances." in changed.stdout

    stack.project.cluster.delete(path)
    missing = coder_stack(stack.project, "drift", "--stack", name)
    assert missing.returncode == 2, missing.stdout + missing.stderr
    assert (
        "Cluster `coder-database`, coderd's database, was deleted in the cluster with its data."
        in missing.stdout
    )
    left = coder_stack(stack.project, "reconcile", "--stack", name)
    assert left.returncode in (1, 2), left.stdout + left.stderr
    assert stack.project.cluster.get(path) is None, "only a person starts an empty one"


def test_F3_without_the_operators_kind_nothing_is_registered(
    engine: Engine, cluster: Cluster, tmp_path: Path
) -> None:
    with simulated(fresh=True) as coderd, deployed(engine, cluster, coderd, tmp_path) as stack:
        declare(stack)
        told = " ".join(stack.failure(stack.up).split())
        assert (
            "controlPlane.database.cloudNativePg: the cluster does not serve postgresql.cnpg.io/v1 "
            "Cluster; install the CloudNativePG operator (Helm chart cloudnative-pg, see "
            "docs/database.md), or use database.secretName"
        ) in told
        assert [
            each["type"]
            for each in stack.project.state().get("resources", [])
            if each["type"] != "pulumi:pulumi:Stack"
        ] == []
