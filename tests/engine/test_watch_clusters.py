"""`coder-stack watch` while an API server is away, and of a stack in two clusters (N1)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster, OwnCluster
from tests.engine.drifting import drifting
from tests.engine.two_clusters import Two, two_clusters
from tests.engine.watching import (
    KEYS,
    SECONDS,
    has_a_working_key,
    is_watching,
    watching,
)
from tests.simulation import simulated

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("watch-clusters"),
    pytest.mark.usefixtures("impatient"),
]
QUICK = ("--repair", "--interval", "5")


@pytest.fixture(scope="module")
def two(
    engine: Engine,
    cluster: Cluster,
    mortal_cluster: OwnCluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Two]:
    """Deployed, with a provisioner in each cluster and the operator's token in a Secret."""
    folder = tmp_path_factory.mktemp("two")
    with (
        simulated(fresh=True) as coderd,
        two_clusters(engine, cluster, mortal_cluster, coderd, folder, proxies=()) as two,
    ):
        two.stack.up()
        yield two


def test_N1_M2_a_second_cluster_is_watched_and_holds_up_nothing_while_it_is_away(two: Two) -> None:
    stack, near, far = two.stack, two.stack.project.cluster, two.far
    lost = stack.project.path("secrets", "au-provisioner-key")
    keys = {key.id for key in stack.key_records()}
    with watching(stack, *QUICK) as watcher:
        is_watching(watcher)
        far.delete(lost)
        watcher.said("noticed: secrets/au-provisioner-key is gone", seconds=SECONDS)
        is_watching(watcher)
        assert far.get(lost) is not None

        far.stop_api_server()
        watcher.said("noticed: the API server of", "sydney does not answer", seconds=SECONDS)
        watcher.said("checked: drift", "left as found", seconds=SECONDS)
        assert watcher.count("is gone") == 1, "nothing more is called deleted"
        near.delete(stack.project.path("secrets", "eu-provisioner-key"))
        watcher.said("noticed: secrets/eu-provisioner-key is gone", seconds=SECONDS)
        watcher.said("repaired after", "eu-secret", seconds=SECONDS)
        watcher.said("checked: drift", "left as found", seconds=SECONDS)
        assert has_a_working_key(stack)

        far.wait()
        watcher.said("noticed: the API server of", "sydney answers again", seconds=SECONDS)
        is_watching(watcher)
        far.delete(lost)
        watcher.said("noticed: secrets/au-provisioner-key is gone", seconds=SECONDS)
        is_watching(watcher)
    assert far.get(lost) is not None
    assert {key.id for key in stack.key_records()} == keys


def test_N1_CP10_a_revoked_token_in_a_secret_is_replaced_and_the_new_one_is_used(two: Two) -> None:
    stack = two.stack
    with watching(stack, *QUICK) as watcher:
        is_watching(watcher)
        stack.coderd.state.records.api_keys.clear()
        watcher.said("noticed: the operator's token is refused", seconds=SECONDS)
        watcher.said("repaired after", seconds=SECONDS)
        is_watching(watcher)
        token = stack.written("coder-operator", "token")
        (key,) = [each for each in stack.key_records() if each.name.startswith("eu")]
        stack.coderd.act("DELETE", f"{KEYS}/{key.name}", token=token)
        watcher.said(f"noticed: key `{key.name}` is gone", seconds=SECONDS)
        watcher.said("repaired after", seconds=SECONDS)
        is_watching(watcher)
    assert has_a_working_key(stack)


def test_N1_an_api_server_that_is_away_is_no_deletion(
    engine: Engine, mortal_cluster: OwnCluster, tmp_path: Path
) -> None:
    mortal_cluster.wait()
    with (
        simulated() as coderd,
        drifting(engine, mortal_cluster, coderd, tmp_path) as stack,
        watching(stack, *QUICK) as watcher,
    ):
        is_watching(watcher)
        key = stack.key("eu").id
        mortal_cluster.stop_api_server()
        try:
            watcher.said("noticed: the API server of cluster does not answer", seconds=SECONDS)
            watcher.said("error:", seconds=SECONDS)
        finally:
            mortal_cluster.wait()
        watcher.said("noticed: the API server of cluster answers again", seconds=SECONDS)
        is_watching(watcher)
        assert watcher.count("is gone") == 0
        assert watcher.count("repaired after") == 0
        mortal_cluster.delete(stack.project.path("secrets", "eu-provisioner-key"))
        watcher.said("noticed: secrets/eu-provisioner-key is gone", seconds=SECONDS)
        is_watching(watcher)
        assert has_a_working_key(stack)
        assert stack.key("eu").id == key
