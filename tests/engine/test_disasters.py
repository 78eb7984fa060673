"""docs/runbooks.md on a real engine: a lost state, a restored coderd, an empty one, a new cluster.

Each is one run that ends as the runbook says: everything holds, and a further look finds nothing.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.simulation import license_text, simulated
from tests.waiting import eventually

pytestmark = pytest.mark.engine
EU: dict[str, Any] = {"name": "eu", "key": {"tags": {"region": "eu"}}}
SYDNEY = {"name": "sydney", "accessUrl": "https://sydney.example.com"}


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """Up and well, in a coderd whose first user and license are this stack's own doing."""
    with (
        simulated(fresh=True) as coderd,
        deployed(
            engine, cluster, coderd, tmp_path, provisioners=[EU], proxies=[SYDNEY]
        ) as stack,
    ):  # fmt: skip
        stack.give("initialPassword", "Correct-Horse-Battery-1!")
        stack.give("licenseJwt", license_text())
        stack.up()
        assert stack.unmet() == []
        stack.coderd.forget_requests()
        yield stack


def rotate(stack: Deployed) -> None:
    stack.configure(provisioners=[{**EU, "key": {**EU["key"], "rotation": "another"}}])
    stack.up()


def assert_well(stack: Deployed) -> None:
    assert stack.unmet() == []
    assert stack.preview(refresh=True).changes == []


def test_a_state_from_a_backup_is_brought_up_to_date(stack: Deployed, tmp_path: Path) -> None:
    backup = tmp_path / "backup.json"
    backup.write_text(stack.project.pulumi("stack", "export").stdout)
    (before,) = stack.key_records()
    rotate(stack)
    (since,) = stack.key_records()

    stack.project.pulumi("stack", "import", "--file", str(backup))
    assert stack.preview(refresh=True).ops("ProvisionerKey") == ["create"]
    stack.up(refresh=True)

    assert_well(stack)
    (now,) = (key for key in stack.key_records() if key.id != since.id)
    assert now.id != before.id
    assert len(stack.key_records()) == 2, (
        "the one since has live daemons, and is nobody's to delete"
    )


def test_a_coderd_from_a_backup_gets_what_it_lacks(stack: Deployed) -> None:
    (before,) = stack.key_records()
    backup = stack.coderd.backup()
    backup.api_keys.clear()  # the operator's token is younger than the backup
    backup.licenses.clear()  # and so is the license
    rotate(stack)

    stack.coderd.restore(backup)
    stack.up(refresh=True)

    # Without a license coderd refused the proxy, which gives up after some refusals and starts
    # again: on a slow machine only after this run has looked.
    assert eventually(lambda: stack.coderd.proxy_health("sydney") == "ok", 60)
    stack.up(refresh=True)
    assert_well(stack)
    ours = [key for key in stack.key_records() if key.id != before.id]
    assert len(ours) == 1
    assert len(stack.key_records()) == 2, "the old one is back, and not ours to delete"
    assert len(stack.coderd.license_ids()) == 1


def test_an_empty_coderd_gets_everything_anew(stack: Deployed) -> None:
    was = stack.project.outputs()["deploymentId"]
    (before,) = stack.key_records()

    stack.coderd.start_anew()
    stack.up(refresh=True)

    assert_well(stack)
    assert stack.project.outputs()["deploymentId"] != was
    (now,) = stack.key_records()
    assert now.id != before.id
    assert len(stack.coderd.license_ids()) == 1


def test_a_new_cluster_gets_every_object_and_no_new_key(stack: Deployed) -> None:
    before, secret = stack.key_records(), stack.written()
    namespace = f"/api/v1/namespaces/{stack.project.namespace}"
    stack.project.cluster.delete(namespace)
    assert eventually(lambda: stack.project.cluster.get(namespace) is None, 60)

    said = stack.failure(lambda: stack.preview(refresh=True))
    assert "SecretMissing: operator access, read: " in said, "the token went with the cluster"
    assert "SecretMissing: license, read: " in said, "unknown, and not taken for gone"
    assert stack.coderd.requests("POST", "/api/v2/users") == [], "nobody has logged in"
    stack.up(refresh=True)

    assert_well(stack)
    assert (stack.key_records(), stack.written()) == (before, secret)
    assert stack.coderd.requests("POST", "provisionerkeys") == []
    assert "POST /api/v2/workspaceproxies" not in stack.coderd.requests()
