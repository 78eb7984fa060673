"""The state in an object store (moto): kept, encrypted and locked there (docs/pipelines.md)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.engine.drifting import command
from tests.engine.operated import PROGRAM, Operated
from tests.engine_project import PROJECT, Project
from tests.s3 import Bucket, OnS3, bucket
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine


@pytest.fixture
def state() -> Iterator[Bucket]:
    with bucket() as made:
        yield made


@pytest.fixture
def stack(engine: Engine, state: Bucket, tmp_path: Path) -> Iterator[Operated]:
    """Operator access and a license, up."""
    with simulated() as coderd:
        project = Project.create(OnS3.of(engine, state), None, tmp_path, PROGRAM)
        stack = Operated(project, coderd)
        stack.set_config(url=coderd.url)
        stack.give("token", coderd.token)
        stack.give("jwt", license_text())
        stack.up()
        yield stack


def lock(stack: Operated) -> str:
    """The key of a lock, in the form of Pulumi's own."""
    return f".pulumi/locks/organization/{PROJECT}/{stack.project.stack.name}/x.json"


def test_D3_state_is_in_the_bucket_and_holds_no_secret_in_plain_text(
    stack: Operated, state: Bucket
) -> None:
    kept = state.objects()
    name = stack.project.stack.name
    assert f".pulumi/stacks/{PROJECT}/{name}.json" in kept
    assert stack.secrets
    for secret in stack.secrets:
        assert not any(secret.encode() in content for content in kept.values())


def test_D2_D3_drift_is_found_and_repaired_with_the_state_in_the_bucket(
    stack: Operated, state: Bucket
) -> None:
    assert command(stack, "drift").returncode == 0
    stack.coderd.state.records.licenses.clear()
    before = state.objects()
    assert command(stack, "drift").returncode == 2
    assert state.objects() == before, "a look writes nothing"
    assert command(stack, "reconcile").returncode == 0
    assert len(stack.coderd.state.records.licenses) == 1


def test_D3_a_lock_in_the_bucket_is_respected_and_can_be_cancelled(
    stack: Operated, state: Bucket
) -> None:
    holder = {"pid": 4242, "username": "ann", "hostname": "laptop"}
    content = {**holder, "timestamp": "2026-01-01T00:00:00Z"}
    state.put(lock(stack), json.dumps(content).encode())
    refused = command(stack, "reconcile")
    assert refused.returncode == 1
    assert "ann@laptop" in refused.stdout
    stack.project.pulumi("cancel", "--yes")
    assert lock(stack) not in state.objects()
    assert command(stack, "reconcile").returncode == 0
