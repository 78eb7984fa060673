"""The database in the config: one way, one place for each value, and what a preview warns of."""

from typing import Any

import pytest

from coder_stack.settings import CloudNativePg, ControlPlaneSettings, Database, Settings, hints
from coder_stack.settings.objects import claims
from tests.unit.config_problems import problems

DATABASE = "controlPlane.database"


def told(database: dict[str, Any], **plane: Any) -> list[str]:
    return problems({"controlPlane": {"database": database, **plane}})


def test_F3_one_line_is_a_whole_database() -> None:
    assert told({"cloudNativePg": {}}) == []
    given = CloudNativePg()
    assert (given.instances, given.storage, given.deletion) == (1, "10Gi", "keep")


@pytest.mark.parametrize(
    ("database", "problem"),
    [
        ({}, f"{DATABASE}.secretName: set this or cloudNativePg"),
        ({"secretKey": "uri"}, f"{DATABASE}.secretName: set this or cloudNativePg"),
        (
            {"secretName": "db", "cloudNativePg": {}},
            f"{DATABASE}.cloudNativePg: set this or secretName, not both",
        ),
        (
            {"secretKey": "uri", "cloudNativePg": {}},
            f"{DATABASE}.secretKey: is unused with cloudNativePg: remove one of them",
        ),
    ],
)
def test_F3_a_database_is_declared_in_one_of_two_ways(
    database: dict[str, Any], problem: str
) -> None:
    assert told(database) == [problem]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"instances": 3}, "instances: set instances instead"),
        ({"imageName": "x"}, "imageName: set imageName instead"),
        ({"resources": {}}, "resources: set resources instead"),
        ({"storage": {"size": "1Gi"}}, "storage.size: set storage instead"),
        ({"storage": {"storageClass": "x"}}, "storage.storageClass: set storageClass instead"),
        (
            {"postgresql": {"parameters": {"a": "b"}}},
            "postgresql.parameters: set parameters instead",
        ),
        (
            {"bootstrap": {"initdb": {"secret": {"name": "x"}}}},
            (
                "bootstrap.initdb.secret: remove it: the operator then creates the Secret that "
                "coderd reads"
            ),
        ),
    ],
)
def test_F3_each_value_of_a_cluster_has_one_place(spec: dict[str, Any], problem: str) -> None:
    assert told({"cloudNativePg": {"spec": spec}}) == [f"{DATABASE}.cloudNativePg.spec.{problem}"]


def test_F3_the_rest_of_the_spec_is_the_operators_own() -> None:
    spec = {
        "storage": {"resizeInUseVolumes": False},
        "bootstrap": {"recovery": {"source": "old"}},
        "backup": {"retentionPolicy": "30d"},
    }
    assert told({"cloudNativePg": {"spec": spec}}) == []


@pytest.mark.parametrize("name", ["7up", "a.b", "A", "a-", "n" * 51])
def test_F3_a_name_that_the_operator_refuses_is_a_mistake(name: str) -> None:
    (problem,) = told({"cloudNativePg": {"name": name}})
    assert problem.startswith(f"{DATABASE}.cloudNativePg.name: must be 1 to 50 of a-z")


def test_F3_the_operator_has_a_service_account_of_the_clusters_name() -> None:
    own = f"{DATABASE}.cloudNativePg.name"
    why = "must differ from controlPlane.name: both need a ServiceAccount of their own"
    assert told({"cloudNativePg": {"name": "hub"}}, name="hub") == [f"{own}: {why}"]
    (other,) = problems(
        {
            "controlPlane": {"database": {"cloudNativePg": {"name": "eu-provisioner"}}},
            "provisioners": [{"name": "eu"}],
        }
    )
    assert other.endswith("ServiceAccount eu-provisioner in namespace coder already belongs to "
                          "controlPlane")  # fmt: skip


def test_F3_the_secret_with_the_url_belongs_to_the_database() -> None:
    plane = ControlPlaneSettings(database=Database(cloud_native_pg=CloudNativePg()))
    assert plane.database_secret == ("coder-database-app", "uri")
    assert ("Secret", "coder-database-app") in {(c.kind, c.name) for c in claims(plane, "coder")}


def test_F3_long_names_still_fit() -> None:
    plane = ControlPlaneSettings(name="n" * 63, database=Database(cloud_native_pg=CloudNativePg()))
    assert len(plane.database_name) == 50


def test_F3_one_instance_below_several_replicas_is_hinted_at() -> None:
    def said(replicas: int, instances: int) -> list[str]:
        database = Database(cloud_native_pg=CloudNativePg(instances=instances))
        plane = ControlPlaneSettings(replicas=replicas, database=database)
        return list(hints(Settings(control_plane=plane)))

    (hint,) = said(2, 1)
    assert hint == (
        "controlPlane.database.cloudNativePg.instances: coderd has 2 replicas, but its database "
        "one instance, without which all of them stop; set it to 3."
    )
    assert said(2, 3) == said(1, 1) == []
