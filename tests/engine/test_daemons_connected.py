"""Rotation on a real engine: the old key goes only after daemons came with the new one (K5)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.coderd.rules import daemons
from sandbox.engine import Engine
from tests.engine.operated import Operated, licensed

pytestmark = pytest.mark.engine
PROGRAM = """
import pulumi
from coder_stack.dynamic.daemons_connected import DaemonsConnected
from coder_stack.dynamic.provisioner_key import ProvisionerKey

config = pulumi.Config()
coderd = {"connection": {"url": config.require("url")}}
key = ProvisionerKey(
    "key",
    **coderd,
    organization="coder",
    base_name="fleet",
    deployment_id=config.require("deployment"),
    trigger=config.get("trigger"),
)
connected = DaemonsConnected(
    "connected",
    **coderd,
    organization="coder",
    key_id=key.key_id,
    minimum=config.require_int("minimum"),
    timeout_seconds=1.0,
)
pulumi.export("key_id", key.key_id)
pulumi.export("material", key.material)
pulumi.export("count", connected.count)
"""


@pytest.fixture
def stack(engine: Engine, tmp_path: Path) -> Iterator[Operated]:
    with licensed(engine, tmp_path, PROGRAM) as stack:
        stack.set_config(minimum="0")
        yield stack


def keys(stack: Operated) -> set[str]:
    return set(stack.coderd.state.records.provisioner_keys)


def daemon_comes_with(stack: Operated, key_id: str) -> None:
    state = stack.coderd.state
    admission = daemons.admit_key(state.records.provisioner_keys[key_id], {})
    daemons.seen(state, admission, daemons.Presence(name="pod-1", version="v2.30.0"))


def test_K5_P3_a_rotation_whose_daemons_do_not_come_keeps_the_old_key_until_they_do(
    stack: Operated,
) -> None:
    stack.up()
    (old,) = keys(stack)

    stack.set_config(trigger="leaked", minimum="1")
    said = stack.failure(stack.up)

    assert "Pending: provisioner daemons" in said
    assert old in keys(stack), "pods that still run with the old key can reconnect"
    (new,) = keys(stack) - {old}

    assert "Pending: provisioner daemons" in stack.failure(stack.up)
    assert keys(stack) == {old, new}, "nor does a run that resumes the broken one delete it early"

    daemon_comes_with(stack, new)
    stack.coderd.forget_requests()
    stack.up()

    assert keys(stack) == {new}
    assert stack.project.outputs()["key_id"] == new
    assert stack.project.outputs()["count"] == 1
    assert stack.coderd.requests("POST") == [], "the key of the broken run is the one that is used"
    stack.secrets.add(str(stack.project.outputs()["material"]))
    assert stack.preview(refresh=True).changes == []
