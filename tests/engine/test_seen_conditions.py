"""Conditions on the real engine say what the last look found, and no more (S2)."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.simulation import license_text, simulated

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
EU: dict[str, Any] = {"name": "eu"}
KEY_SECRET = ("provisioner/eu", "ProvisionerKeySecretReady")
LICENSE = ("operator", "LicenseApplied")


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """Configured with one provisioner, not yet up."""
    with (
        simulated(licensed=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path, provisioners=[EU]) as stack,
    ):
        stack.give("token", coderd.token)
        yield stack


def test_K4_S2_a_key_secret_with_something_else_is_named_until_it_is_restored(
    stack: Deployed,
) -> None:
    stack.up()
    assert stack.condition(*KEY_SECRET) == ("True", "Written")
    path = stack.project.path("secrets", "eu-provisioner-key")
    other = base64.b64encode(b"not-the-key-that-coderd-knows").decode()

    stack.project.cluster.patch(path, {"data": {"key": other}})
    stack.refresh()
    assert stack.condition(*KEY_SECRET) == ("False", "SecretChanged")
    assert stack.condition("stack", "Ready") == ("False", "SecretChanged")

    stack.project.cluster.delete(path)
    stack.refresh()
    assert stack.condition(*KEY_SECRET) == ("False", "SecretMissing")

    stack.up()
    assert stack.condition(*KEY_SECRET) == ("True", "Written")
    assert stack.unmet() == []


def test_L1_S2_a_license_whose_secret_is_gone_is_called_so_and_stays_in_coderd(
    stack: Deployed,
) -> None:
    jwt = license_text()
    encoded = base64.b64encode(jwt.encode()).decode()
    stack.secrets |= {jwt, encoded}
    stack.configure(license={"secret": {"name": "paid"}}, provisioners=[])
    assert "SecretMissing" in stack.failure(stack.up), "its namespace comes with this very run"
    secret = {"metadata": {"name": "paid"}, "data": {"license": encoded}}
    stack.project.cluster.create(stack.project.path("secrets"), secret)
    stack.up()
    assert stack.condition(*LICENSE) == ("True", "Applied")
    held = stack.coderd.license_ids()

    stack.project.cluster.delete(stack.project.path("secrets", "paid"))
    stack.refresh()
    assert stack.condition(*LICENSE) == ("False", "SecretMissing")
    assert stack.coderd.license_ids() == held

    stack.project.cluster.create(stack.project.path("secrets"), secret)
    stack.up()
    assert stack.condition(*LICENSE) == ("True", "Applied")
