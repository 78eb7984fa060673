"""`coder-stack watch` with the state in an object store, whose files it cannot see (N1)."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.drifting import PROGRAM, Drifting
from tests.engine.watching import (
    SECONDS,
    has_a_working_key,
    is_watching,
    replicas,
    scale,
    watching,
)
from tests.engine_project import PROJECT, Project
from tests.s3 import Bucket, OnS3, bucket
from tests.simulation import simulated
from tests.waiting import eventually

pytestmark = pytest.mark.engine
LATE = 15.0
"""Seconds that an update of the test is kept waiting."""


@pytest.fixture
def state() -> Iterator[Bucket]:
    with bucket() as made:
        yield made


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, state: Bucket, tmp_path: Path) -> Iterator[Drifting]:
    with simulated() as coderd:
        project = Project.create(OnS3.of(engine, state), cluster, tmp_path, PROGRAM)
        stack = Drifting(project, coderd)
        try:
            stack.begin(keys=("eu",))
            yield stack
        finally:
            project.clean_up()


def left_lock(stack: Drifting, state: Bucket) -> None:
    """Put a lock there in the form of Pulumi's own, of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    holder = {"pid": process.pid, "username": "ann", "hostname": socket.gethostname()}
    content = json.dumps({**holder, "timestamp": "2026-01-01T00:00:00Z"})
    name = stack.project.stack.name
    state.put(f".pulumi/locks/organization/{PROJECT}/{name}/x.json", content.encode())


def test_N1_a_stack_in_a_bucket_is_repaired_once_and_never_beside_another_update(
    stack: Drifting, state: Bucket
) -> None:
    ended = list[float]()
    with watching(stack, "--repair", "--interval", "5") as watcher:
        is_watching(watcher)
        scale(stack, 3)
        watcher.said("noticed: deployments/coder looks different", seconds=SECONDS)
        watcher.said("repaired after", "plane-deployment", seconds=SECONDS)
        is_watching(watcher)

        stack.coderd.fault("delay", "*/provisionerkeys", method="POST", seconds=LATE)
        stack.set_config(keys=json.dumps(["eu", "us"]))
        with ThreadPoolExecutor(1) as beside:
            update = beside.submit(stack.up)
            update.add_done_callback(lambda _: ended.append(time.monotonic()))
            assert eventually(lambda: not stack.coderd.application.faults.to_json(), SECONDS)
            stack.coderd.forget_requests()
            scale(stack, 3)
            named = watcher.said("named after", seconds=SECONDS)
            update.result()
        assert ended[0] < named.at, "it waited for the update"
        watcher.said("repaired after", "plane-deployment", seconds=SECONDS)
        is_watching(watcher)
        assert has_a_working_key(stack, "us")
        assert len(stack.coderd.requests("POST", "/provisionerkeys")) == 1, "not made twice"
        assert watcher.count("repaired after") == 2

        left_lock(stack, state)
        scale(stack, 3)
        watcher.said("error: The stack is locked by ann@", "no such process", seconds=SECONDS)
        watcher.said("$ pulumi cancel --stack", seconds=SECONDS)
        assert replicas(stack) == 3
        stack.project.pulumi("cancel", "--yes")
        watcher.said("repaired after", "plane-deployment", seconds=SECONDS)
        is_watching(watcher)
    assert replicas(stack) == 0
