"""A license in a Kubernetes Secret on a real engine: missing, there, changed, never in sight."""

import base64
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from pulumi import automation as auto

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.operated import Operated, operated
from tests.engine_project import PROJECT
from tests.simulation import license_text, simulated

pytestmark = [pytest.mark.engine, pytest.mark.cluster]

PROGRAM = """
import pulumi
from coder_stack.dynamic.license import License
from coder_stack.dynamic.operator_access import OperatorAccess
from coder_stack.dynamic.secret_value import SecretValue

config = pulumi.Config()
connection = {"url": config.require("url")}
access = OperatorAccess("access", connection=connection, token=config.get_secret("token"))
kept = SecretValue("kept", namespace=config.require("namespace"), name="coder", key="license")
license = License(
    "license",
    connection=connection,
    jwt=kept.value,
    deployment_id=access.deployment_id,
    opts=pulumi.ResourceOptions(depends_on=[access]),
)
pulumi.export("fingerprint", kept.fingerprint)
pulumi.export("applied", license.applied)
"""


class Sealed:
    """The stack, and the Secret as somebody else keeps it."""

    def __init__(self, stack: Operated, cluster: Cluster, namespace: str) -> None:
        self.stack = stack
        self._cluster = cluster
        self._folder = f"/api/v1/namespaces/{namespace}/secrets"

    def put(self, jwt: str) -> None:
        self.stack.secrets |= {jwt, base64.b64encode(jwt.encode()).decode()}
        body = {"metadata": {"name": "coder"}, "stringData": {"license": f"{jwt}\n"}}
        there = self._cluster.get(f"{self._folder}/coder") is not None
        with self._cluster.http() as http:
            path = f"{self._folder}/coder" if there else self._folder
            http.request("PUT" if there else "POST", path, json=body).raise_for_status()

    def drop(self) -> None:
        self._cluster.delete(f"{self._folder}/coder")

    @property
    def uploads(self) -> int:
        return len(self.stack.coderd.requests("POST", "/licenses"))


@pytest.fixture
def sealed(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Sealed]:
    namespace = f"sealed-{secrets.token_hex(4)}"
    cluster.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    with simulated() as coderd, operated(engine, coderd, tmp_path, PROGRAM) as stack:
        stack.give("token", coderd.token)
        place = {"kubernetes.kubeconfig": str(cluster.kubeconfig), "namespace": namespace}
        for key, value in place.items():
            stack.project.stack.set_config(
                f"{PROJECT}:{key}", auto.ConfigValue(value), path="." in key
            )
        yield Sealed(stack, cluster, namespace)
    cluster.delete(f"/api/v1/namespaces/{namespace}")


def test_L1_L4_L9_a_license_from_a_secret_missing_there_and_changed(sealed: Sealed) -> None:
    stack = sealed.stack
    said = " ".join(stack.preview().events)
    assert "warning: SecretMissing: Secret sealed-" in said, "a warning, and no failure"
    assert "SecretMissing: Secret sealed-" in stack.failure(stack.up)
    assert sealed.uploads == 0
    assert set(stack.resources()) <= {"access"}, "nothing downstream was touched"

    sealed.put(license_text())
    stack.up()
    assert stack.project.outputs()["applied"] is True
    assert stack.preview().changes == []
    assert stack.preview(refresh=True).changes == []
    assert sealed.uploads == 1
    (old,) = stack.coderd.license_ids()

    sealed.put(license_text(days=200))
    seen = stack.preview()
    assert seen.properties("SecretValue") == {"value", "fingerprint"}
    assert "create-replacement" in seen.ops("License")
    stack.up()
    assert old not in stack.coderd.license_ids()
    assert len(stack.coderd.license_ids()) == 1
    assert stack.preview(refresh=True).changes == []


def test_L1_a_secret_that_goes_missing_fails_the_update_and_leaves_the_license(
    sealed: Sealed,
) -> None:
    stack = sealed.stack
    jwt = license_text()
    sealed.put(jwt)
    stack.up()
    before = stack.resources()["license"]["outputs"]

    sealed.drop()
    assert "SecretMissing: Secret sealed-" in stack.failure(stack.up)
    stack.refresh()
    assert "SecretMissing: Secret sealed-" in stack.failure(stack.up), "after a refresh as well"
    assert stack.resources()["license"]["outputs"]["license_id"] == before["license_id"]
    assert sealed.uploads == 1

    sealed.put(jwt)
    stack.up()
    assert stack.preview(refresh=True).changes == []
    stack.destroy()
    assert stack.coderd.license_ids() == []
