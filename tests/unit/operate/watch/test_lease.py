"""One watcher for each stack (N1)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.watch.lease import Lease
from tests.unit.operate.watch.api_server import Answers, api_server
from tests.waiting import eventually

NAME = "coder-stack-watch-1"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Answers]:
    with api_server(tmp_path) as server:
        yield server


def lease(server: Answers, seconds: int = 3) -> Lease:
    return Lease(server.cluster, "coder", NAME, "dev", seconds=seconds, renew_seconds=0.1)


def nothing(*_: object) -> None:
    pass


def test_N1_the_first_watcher_takes_the_lease_and_gives_it_back(server: Answers) -> None:
    first = lease(server)
    assert first.acquire(nothing, nothing)
    spec = server.leases[NAME]["spec"]
    assert spec["leaseDurationSeconds"] == 3
    assert eventually(lambda: server.leases[NAME]["spec"]["renewTime"] > spec["renewTime"])
    first.release()
    assert NAME not in server.leases


def test_N1_a_second_watcher_is_told_who_runs_in_one_sentence(server: Answers) -> None:
    first = lease(server)
    first.acquire(nothing, nothing)
    with pytest.raises(OperationError) as refused:
        lease(server).acquire(nothing, nothing)
    first.release()
    assert str(refused.value).startswith("Another watcher of stack `dev` runs (")
    assert "pid " in str(refused.value)
    assert not first.lost


def test_N1_a_watcher_that_was_killed_is_followed_by_the_next(server: Answers) -> None:
    server.leases[NAME] = {
        "metadata": {"name": NAME, "resourceVersion": "5"},
        "spec": {"holderIdentity": "dead pid 1 x", "acquireTime": "2026-01-01T00:00:00.0Z"},
    }
    waits: list[int] = []
    said: list[str] = []
    second = lease(server, seconds=1)
    assert second.acquire(lambda: waits.append(1), said.append)
    assert said == ["waiting up to 1 s for the Lease of dead pid 1"]
    assert waits, "it waited for a sign of life"
    second.release()


def test_N1_a_watcher_that_was_taken_over_knows_it(server: Answers) -> None:
    first = lease(server)
    first.acquire(nothing, nothing)
    taken = server.leases[NAME]
    server.leases[NAME] = {
        "metadata": {"name": NAME, "resourceVersion": "999"},
        "spec": {**taken["spec"], "holderIdentity": "other pid 2 x"},
    }
    assert eventually(lambda: first.lost)
    first.release()
    assert NAME in server.leases, "it is the other one's"


def test_N1_without_leases_a_watcher_runs_all_the_same(tmp_path: Path) -> None:
    with api_server(tmp_path) as server:
        unreachable = server.cluster
    assert not Lease(unreachable, "coder", NAME, "dev").acquire(nothing, nothing)
