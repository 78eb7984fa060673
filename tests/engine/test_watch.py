"""`coder-stack watch` on a real engine and a real API server (N1-N3).

The tests share one stack, and each leaves it as it found it.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.drifting import Drifting, drifting
from tests.engine.watching import (
    KEYS,
    SECONDS,
    is_watching,
    page,
    port_of,
    replicas,
    scale,
    watching,
)
from tests.simulation import simulated
from tests.waiting import eventually

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("watch")]
OURS = {"component": "coder-stack"}


@pytest.fixture(scope="module")
def stack(
    engine: Engine, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Drifting]:
    folder = tmp_path_factory.mktemp("watch")
    with simulated() as coderd, drifting(engine, cluster, coderd, folder) as stack:
        yield stack


def test_N1_N2_N3_drift_is_noticed_named_repaired_and_told_once(
    stack: Drifting, heard: list[dict[str, Any]]
) -> None:
    name = stack.project.stack.name
    options = ("--repair", "--interval", "5", "--listen", "127.0.0.1:0")
    with watching(stack, *options) as watcher:
        port = port_of(watcher)
        is_watching(watcher)
        assert page(port, "/readyz").status_code == 200

        scale(stack, 3)
        watcher.said("noticed: deployments/coder looks different", seconds=SECONDS)
        watcher.said("named after", seconds=SECONDS)
        is_watching(watcher)
        assert replicas(stack) == 0

        deleted = stack.key("eu")
        stack.coderd.act("DELETE", f"{KEYS}/{deleted.name}")
        watcher.said(f"noticed: key `{deleted.name}` is gone", seconds=SECONDS)
        is_watching(watcher)
        assert stack.key("eu").id != deleted.id

        metrics = page(port, "/metrics").text
        assert f'coder_stack_watch_unconfirmed_total{{stack="{name}"}} 0.0' in metrics
        assert f'coder_stack_drift_result{{result="clean",stack="{name}"}} 1.0' in metrics
        second = stack.command("watch")
        assert second.returncode == 1
        waiting, error = second.stderr.splitlines()[:2]
        assert waiting.startswith("==> waiting up to 30 s for the Lease of ")
        assert error.startswith(f"error: Another watcher of stack `{name}` runs (")
        assert watcher.terminate() == 143
    assert watcher.lines[-1].text.startswith("error: interrupted; no lock is left.")
    told = ["drift", "repaired", "drift", "repaired"]
    assert eventually(lambda: [each["transition"] for each in heard] == told)
    assert heard[0]["summary"].startswith("1 resource differs: Deployment `coder`")
    assert heard[0]["next_step"]["command"].startswith("coder-stack reconcile --stack")
    events = stack.project.cluster.get(stack.project.path("events"))
    assert events is not None
    reasons = {each["reason"] for each in events["items"] if each["source"] == OURS}
    assert reasons == {"DriftFound", "DriftRepaired"}


def test_N1_our_own_update_and_what_the_engine_does_not_confirm_start_nothing_again(
    stack: Drifting,
) -> None:
    secret = stack.project.path("secrets", "eu-provisioner-key")
    with watching(stack, "--interval", "5") as watcher:
        is_watching(watcher)
        stack.set_config(keys='["eu", "us"]')
        stack.up()
        stack.project.cluster.patch(secret, {"metadata": {"annotations": {"somebody": "was-here"}}})
        watcher.said("noticed: secrets/eu-provisioner-key", seconds=SECONDS)
        watcher.said("not confirmed: the engine found no drift", seconds=SECONDS)
        is_watching(watcher)
        assert watcher.count("noticed:") == 1, "not the update"
    assert watcher.count("checked:") == 2


@pytest.mark.usefixtures("impatient")
def test_N1_coderd_may_be_away_for_a_while(stack: Drifting) -> None:
    """Nothing is called deleted; what was deleted meanwhile is noticed when it answers again."""
    with watching(stack, "--repair", "--interval", "5") as watcher:
        is_watching(watcher)
        stack.coderd.fault("status", "*", status=502, count=-1)
        watcher.said("noticed: coderd does not answer", seconds=SECONDS)
        watcher.said("error:", seconds=SECONDS)
        stack.coderd.peace()
        is_watching(watcher)
    assert watcher.count("repaired after") == 0


def test_N1_drift_is_only_told_without_repair(stack: Drifting, heard: list[Any]) -> None:
    with watching(stack) as watcher:
        is_watching(watcher)
        scale(stack, 2)
        watcher.said("checked: drift, 1 resource left as found", seconds=SECONDS)
        assert replicas(stack) == 2
        scale(stack, 0)
        is_watching(watcher)
    assert [each["transition"] for each in heard] == ["drift", "recovered"]


def test_N2_a_single_run_tells_the_webhook(stack: Drifting, heard: list[Any]) -> None:
    scale(stack, 2)
    assert stack.command("drift", "--notify").returncode == 2
    assert stack.command("reconcile", "--notify").returncode == 0
    assert [each["transition"] for each in heard] == ["drift", "repaired"]
