"""The watcher's bad days, on a real engine and a real API server (N1).

The tests share one stack, and each leaves it as it found it. Repairs are caught in the middle: a
deleted key is made again by a request that coderd answers late, and the Secret of the key follows.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sandbox.engine import Engine
from sandbox.watcher.process import WatchProcess
from tests.cluster_access import Cluster
from tests.engine.drifting import Drifting, drifting
from tests.engine.watching import (
    KEYS,
    SECONDS,
    backend,
    family,
    has_a_working_key,
    is_watching,
    kill,
    locks,
    replicas,
    scale,
    watching,
)
from tests.simulation import simulated
from tests.waiting import eventually

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("watch-survives")]
TOKENS = "/api/v2/users/me/keys/tokens"
LATE = 8.0
"""Seconds that coderd takes to make a key, in which a repair is surely in flight."""
WAITS = "waiting up to 30 s for the Lease"
QUICK = ("--repair", "--interval", "5")


@pytest.fixture(scope="module")
def stack(
    engine: Engine, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Drifting]:
    folder = tmp_path_factory.mktemp("survives")
    with simulated() as coderd, drifting(engine, cluster, coderd, folder) as stack:
        yield stack


@contextmanager
def in_a_repair(stack: Drifting) -> Iterator[WatchProcess]:
    """Run a watcher until coderd is asked for the key of a repair; the answer is late."""
    with watching(stack, *QUICK) as watcher:
        is_watching(watcher)
        stack.coderd.forget_requests()
        stack.coderd.fault("delay", "*/provisionerkeys", method="POST", seconds=LATE)
        stack.coderd.act("DELETE", f"{KEYS}/{stack.key('eu').name}")
        assert eventually(lambda: not stack.coderd.application.faults.to_json(), SECONDS)
        assert keys_made(stack) == 0, "it is asked for, and not made yet"
        yield watcher


def keys_made(stack: Drifting) -> int:
    """Return how many keys coderd was asked for since the repair began."""
    return len(stack.coderd.requests("POST", "/provisionerkeys"))


def test_N1_a_watcher_that_is_ended_in_a_repair_leaves_no_lock_and_the_next_repairs_the_rest(
    stack: Drifting,
) -> None:
    """As Kubernetes does it in a rollout; the Lease is given back, so the next one starts."""
    with in_a_repair(stack) as watcher:
        assert watcher.terminate() == 143
    assert watcher.lines[-1].text.startswith("error: interrupted; no lock is left.")
    assert locks(stack) == []
    assert keys_made(stack) == 1, "the step was finished"
    assert not has_a_working_key(stack), "and no other was begun"
    with watching(stack, *QUICK) as watcher:
        is_watching(watcher)
        assert watcher.count(WAITS) == 0, "the Lease was given back"
        assert watcher.count("repaired after") == 1
    assert has_a_working_key(stack)
    assert keys_made(stack) == 1


def test_N1_a_watcher_that_is_killed_in_a_repair_takes_its_repair_along(stack: Drifting) -> None:
    """What ran for it finishes its step and ends; the next one waits for the Lease."""
    with in_a_repair(stack) as watcher:
        (itself, *helpers) = family(watcher)
        kill([itself])
        watcher.process.wait(30)
        assert eventually(lambda: not any(each.is_running() for each in helpers), 60)
    assert locks(stack) == []
    assert keys_made(stack) == 1
    assert not has_a_working_key(stack), "nobody repairs without a watcher"
    with watching(stack, *QUICK) as watcher:
        is_watching(watcher)
        assert watcher.count(WAITS) == 1, "the Lease ends by itself"
    assert has_a_working_key(stack)
    assert keys_made(stack) == 1


def test_N1_a_machine_that_dies_in_a_repair_leaves_a_lock_that_the_next_watcher_tells_of(
    stack: Drifting, heard: list[dict[str, Any]]
) -> None:
    name = stack.project.stack.name
    with in_a_repair(stack) as watcher:
        kill(family(watcher))
    assert len(locks(stack)) == 1
    with watching(stack, *QUICK) as watcher:
        watcher.said("error: The stack is locked by", "no such process runs", seconds=SECONDS)
        step = watcher.said("next: Release the lock", seconds=SECONDS).text
        command = f"pulumi cancel --stack {name}"
        assert step.endswith(f"$ {command}")
        assert not has_a_working_key(stack), "it waits for a person"
        stack.project.pulumi("cancel", "--yes")
        is_watching(watcher)
        assert watcher.count("error:") == 1, "told once"
        assert has_a_working_key(stack)
    assert stack.report("drift")[1]["result"] == "clean"
    left = [each.name for each in stack.coderd.state.records.provisioner_keys.values()]
    assert sum(each.startswith("eu-") for each in left) == 1
    told = ["drift", "error", "drift", "repaired"]
    assert eventually(lambda: [each["transition"] for each in heard] == told)
    assert heard[1]["next_step"]["command"] == command


def test_N1_an_engine_that_is_killed_in_a_repair_is_told_and_the_same_watcher_goes_on(
    stack: Drifting,
) -> None:
    """As when memory runs out, of which the engine takes most."""
    with in_a_repair(stack) as watcher:
        kill([each for each in family(watcher) if each.name() == "pulumi"])
        watcher.said("error: The stack is locked by", "no such process runs", seconds=SECONDS)
        watcher.said("next: Release the lock", "$ pulumi cancel --stack", seconds=SECONDS)
        stack.project.pulumi("cancel", "--yes")
        is_watching(watcher)
        assert has_a_working_key(stack)
    assert len([*stack.coderd.state.records.provisioner_keys]) == 1


def test_N1_a_backend_that_is_away_is_told_and_waited_for(
    stack: Drifting, heard: list[dict[str, Any]]
) -> None:
    folder = backend(stack)
    away = folder.with_name("away")
    with watching(stack, *QUICK) as watcher:
        is_watching(watcher)
        shutil.move(folder, away)
        try:
            watcher.said("error: The backend that keeps the state cannot be", seconds=SECONDS)
            scale(stack, 3)
        finally:
            shutil.move(away, folder)
        watcher.said("repaired after", "plane-deployment", seconds=SECONDS)
        is_watching(watcher)
    assert replicas(stack) == 0
    assert "Traceback" not in watcher.text, watcher.text
    assert [each["transition"] for each in heard] == ["error", "drift", "repaired"]


def test_N1_a_new_token_in_the_config_is_used_without_a_restart(stack: Drifting) -> None:
    tokens, old = stack.coderd.state.records.api_keys, stack.coderd.token
    made = stack.coderd.act("POST", TOKENS, {"token_name": "new"})["key"]
    with watching(stack, *QUICK) as watcher:
        is_watching(watcher)
        stack.give("token", made)
        revoked = tokens.pop(old.partition("-")[0])
        watcher.said("noticed: the operator's token is refused", seconds=SECONDS)
        watcher.said("named after", "was given another token", seconds=SECONDS)
        is_watching(watcher)
        stack.coderd.act("DELETE", f"{KEYS}/{stack.key('eu').name}", token=made)
        watcher.said("noticed: key `eu-", "is gone", seconds=SECONDS)
        is_watching(watcher)
    assert has_a_working_key(stack)
    assert made not in watcher.text
    tokens[revoked.id] = revoked
    stack.give("token", old)
    stack.up()


def test_N1_a_rollout_restart_is_no_drift_and_is_not_undone(stack: Drifting) -> None:
    path = stack.project.path("deployments", "coder")
    restarted = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
    pods = {"template": {"metadata": {"annotations": restarted}}}
    with watching(stack, *QUICK) as watcher:
        is_watching(watcher)
        stack.project.cluster.patch(path, {"spec": pods}, manager="kubectl-rollout")
        watcher.said("noticed: deployments/coder looks different", seconds=SECONDS)
        watcher.said("not confirmed: the engine found no drift", seconds=SECONDS)
        is_watching(watcher)
        found = stack.project.cluster.get(path)
        assert found is not None
        assert found["spec"]["template"]["metadata"]["annotations"] == restarted
        # A repair of the same object starts nothing again either.
        scale(stack, 3)
        watcher.said("repaired after", seconds=SECONDS)
        is_watching(watcher)
        scale(stack, 4)
        watcher.said("repaired after", seconds=SECONDS)
        is_watching(watcher)
    assert replicas(stack) == 0
    assert watcher.count("noticed:") == 3
