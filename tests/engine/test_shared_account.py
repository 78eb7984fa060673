"""Provisioners that share an account, from an account of each and back (P1)."""

from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.simulation import simulated

pytestmark = pytest.mark.engine
KINDS = ("serviceaccounts", "roles", "rolebindings")


def accounts(stack: Deployed) -> dict[str, set[str]]:
    """The accounts of pods by the kind of their objects."""
    cluster, path = stack.project.cluster, stack.project.path
    return {kind: {*cluster.names(path(kind))} - {"coder", "default"} for kind in KINDS}


def used(stack: Deployed, name: str) -> set[str]:
    return {pod["spec"]["serviceAccountName"] for pod in stack.pods(f"{name}-provisioner")}


def test_P1_provisioners_move_to_a_shared_account_and_back(
    engine: Engine, cluster: Cluster, tmp_path: Path
) -> None:
    eu, us = {"name": "eu"}, {"name": "us"}
    shared: list[dict[str, Any]] = [{**each, "account": "builders"} for each in (eu, us)]
    with (
        simulated(licensed=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path, provisioners=[eu, us]) as stack,
    ):
        stack.give("token", coderd.token)
        stack.up()
        both = {"eu-provisioner", "us-provisioner"}
        assert accounts(stack)["serviceaccounts"] == both
        keys = {key.id for key in stack.key_records()}

        stack.configure(provisioners=shared)
        done = [(step.op, step.type.split(":")[-1]) for step in stack.up().changes]
        assert done.index(("update", "Deployment")) < done.index(("delete", "RoleBinding"))
        assert accounts(stack)["serviceaccounts"] == {"builders"}
        assert {each for kind in KINDS[1:] for each in accounts(stack)[kind]} >= {"builders"}
        assert not both & accounts(stack)["rolebindings"]
        assert (used(stack, "eu"), used(stack, "us")) == ({"builders"}, {"builders"})
        assert {key.id for key in stack.key_records()} == keys, "the keys are not concerned"
        assert stack.unmet() == []
        assert stack.preview(refresh=True).changes == []

        stack.configure(provisioners=shared[1:])
        stack.up()
        assert accounts(stack)["serviceaccounts"] == {"builders"}
        assert stack.unmet() == []
        assert stack.preview(refresh=True).changes == []

        stack.configure(provisioners=[us])
        stack.up()
        assert accounts(stack)["serviceaccounts"] == {"us-provisioner"}
        stack.destroy()
        assert accounts(stack)["rolebindings"] == set()
