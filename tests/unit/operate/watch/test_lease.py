"""One watcher for each stack (N1)."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.coderd.errors import Unavailable
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.watch.lease import Lease
from tests.provider.api_server import write_kubeconfig
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
    said = list[str]()
    alone = Lease(unreachable, "coder", NAME, "dev", seconds=1)
    assert not alone.acquire(nothing, said.append)
    alone.release()
    assert said == ["waiting up to 1 s for the API server, which has the Lease"]


@dataclass
class Cluster:
    """One Lease as an API server keeps it: with preconditions, and an owner of its fields."""

    file: Kubeconfig
    lease: dict[str, Any] | None = None
    owner: str = ""
    version: int = 10
    trouble: list[int] = field(default_factory=list[int])
    """Statuses of the next answers to the main thread; 0 is no answer."""
    down: int = 0
    """A status of every answer, if it is not 0."""
    before_patch: Callable[[], object] | None = None
    """Happens once, before the next PATCH."""
    asked: list[str] = field(default_factory=list[str])

    def send(
        self,
        http: object,
        operation: str,
        path: tuple[str, ...],
        *,
        method: str = "GET",
        query: dict[str, str] | None = None,
        apply: dict[str, Any] | None = None,
    ) -> tuple[int, bytes]:
        """Stand in for the request of the same name."""
        if method == "PATCH" and (happens := self.before_patch):
            self.before_patch = None
            happens()
        self.asked.append(method)
        in_trouble = self.trouble and threading.current_thread() is threading.main_thread()
        status = self.down or (self.trouble.pop(0) if in_trouble else 200)
        if status == 0:
            raise Unavailable(operation, "it times out.")
        if status != 200:
            return status, b"{}"
        if apply is not None and query is not None:
            return self._apply(apply, query["fieldManager"], force="force" in query)
        found = self.lease
        if method == "DELETE":
            self.lease = None
        return (404, b"{}") if found is None else (200, json.dumps(found).encode())

    def put(self, holder: str) -> None:
        """Write it as a watcher does that knows nothing of others."""
        spec = {"holderIdentity": holder, "acquireTime": "2026-01-01T00:00:00.0Z"}
        self._apply({"metadata": {"name": NAME}, "spec": spec}, "somebody", force=True)

    @property
    def holder(self) -> str:
        """The one of now; empty without any."""
        return self.lease["spec"]["holderIdentity"] if self.lease else ""

    def watcher(self, seconds: int = 2) -> Lease:
        return Lease(self.file, "coder", NAME, "dev", seconds=seconds, renew_seconds=0.05)

    def _apply(self, apply: dict[str, Any], owner: str, *, force: bool) -> tuple[int, bytes]:
        given = apply["metadata"].get("resourceVersion")
        if given and (self.lease is None or self.lease["metadata"]["resourceVersion"] != given):
            return 409, b"{}"
        if self.lease is not None and owner != self.owner and not force:
            return 409, b"{}"
        self.owner, self.version = owner, self.version + 1
        metadata = {**apply["metadata"], "resourceVersion": str(self.version)}
        self.lease = {**apply, "metadata": metadata}
        return 200, json.dumps(self.lease).encode()


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    file = write_kubeconfig(tmp_path, "https://127.0.0.1:1")
    found = Cluster(Kubeconfig(kubeconfig=file))
    monkeypatch.setattr("coder_stack.operate.watch.lease.send", found.send)
    return found


def test_N1_of_two_that_start_at_once_exactly_one_wins(cluster: Cluster) -> None:
    first, second = cluster.watcher(), cluster.watcher()
    # Both have seen that there is no Lease.
    cluster.before_patch = lambda: first.acquire(nothing, nothing)
    with pytest.raises(OperationError, match="Another watcher of stack `dev` runs"):
        second.acquire(nothing, nothing)
    holder = cluster.holder
    second.release()
    assert not first.lost
    assert holder
    assert cluster.holder == holder, "it is the first one's"
    first.release()
    assert cluster.lease is None


@pytest.mark.parametrize("status", [0, 503])
def test_N1_an_api_server_that_stalls_for_a_moment_is_asked_again(
    cluster: Cluster, status: int
) -> None:
    """A second watcher must not run beside the first because one read timed out."""
    first, second = cluster.watcher(), cluster.watcher(seconds=30)
    assert first.acquire(nothing, nothing)
    holder = cluster.holder
    cluster.trouble = [200, status]
    with pytest.raises(OperationError, match="Another watcher of stack `dev` runs"):
        second.acquire(nothing, nothing)
    second.release()
    assert cluster.trouble == []
    assert cluster.holder == holder
    assert not first.lost
    first.release()


def test_N1_a_lease_that_was_only_read_is_not_given_back(cluster: Cluster) -> None:
    cluster.put("live pid 1 x")
    second = cluster.watcher(seconds=1)

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        second.acquire(stop, nothing)
    second.release()
    assert cluster.holder == "live pid 1 x"


def test_N1_a_lease_that_another_one_has_taken_is_not_given_back(cluster: Cluster) -> None:
    first = Lease(cluster.file, "coder", NAME, "dev", renew_seconds=60)
    assert first.acquire(nothing, nothing)
    cluster.put("other pid 2 x")
    first.release()
    assert cluster.holder == "other pid 2 x"


def test_N1_without_the_right_to_leases_nobody_waits(cluster: Cluster) -> None:
    cluster.down = 403
    alone = cluster.watcher(seconds=30)
    assert not alone.acquire(nothing, nothing)
    alone.raise_if_lost()
    assert cluster.asked == ["GET"]


def test_N1_a_watcher_without_a_lease_gets_it_as_soon_as_it_can(cluster: Cluster) -> None:
    cluster.down = 503
    alone = cluster.watcher(seconds=0)
    assert not alone.acquire(nothing, nothing)
    cluster.down = 0
    assert eventually(lambda: "pid " in cluster.holder)
    alone.raise_if_lost()
    alone.release()
    assert cluster.lease is None


def test_N1_a_watcher_without_a_lease_ends_once_it_finds_another(cluster: Cluster) -> None:
    cluster.down = 503
    second = cluster.watcher(seconds=0)
    assert not second.acquire(nothing, nothing)
    second.seconds = 30
    cluster.put("live pid 1 x")
    cluster.down = 0

    def renewed() -> bool:
        cluster.put("live pid 1 x")
        return second.lost is not None

    assert eventually(renewed)
    with pytest.raises(OperationError, match=r"Another watcher of stack `dev` runs \(live pid 1"):
        second.raise_if_lost()
    second.release()
    assert cluster.holder == "live pid 1 x"


def test_N1_an_answer_that_was_lost_does_not_cost_the_lease(cluster: Cluster) -> None:
    """A renewal may have been written all the same."""
    first = cluster.watcher()
    assert first.acquire(nothing, nothing)
    cluster.put(cluster.holder)  # as if by a request of ours whose answer was lost
    count = len(cluster.asked)
    assert eventually(lambda: len(cluster.asked) > count + 5)
    assert not first.lost
    first.release()
    assert cluster.lease is None


def test_N1_a_lease_that_somebody_deletes_is_made_again(cluster: Cluster) -> None:
    first = cluster.watcher()
    assert first.acquire(nothing, nothing)
    cluster.lease = None
    assert eventually(lambda: "pid " in cluster.holder)
    assert not first.lost
    first.release()
