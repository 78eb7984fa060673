"""The sandbox's cluster starts, survives what people do to it, and leaves nothing behind.

Each test has a cluster of its own: they are killed here.
"""

import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from sandbox import cluster
from sandbox.cluster import api, ports
from sandbox.cluster.layout import PARTS
from sandbox.errors import SandboxError
from sandbox.paths import CHECKOUT, SandboxPaths
from sandbox.toolchain import CLUSTER, ensure
from tests.processes import processes_in
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def programs() -> dict[str, Path]:
    return {name: tool.path for name, tool in ensure(CLUSTER).items()}


@pytest.fixture
def paths(tmp_path: Path) -> Iterator[SandboxPaths]:
    paths = SandboxPaths(tmp_path / "sandbox")
    yield paths
    cluster.down(paths)
    assert processes_in(paths.folder) == []


def silent(_: str) -> None:
    """Discard progress messages."""


def start_elsewhere(paths: SandboxPaths) -> subprocess.Popen[bytes]:
    """Run `up` in another process, to kill it."""
    code = (
        "import sys; from pathlib import Path; from sandbox import cluster;"
        "from sandbox.paths import SandboxPaths; from sandbox.toolchain import CLUSTER, ensure;"
        "programs = {n: t.path for n, t in ensure(CLUSTER).items()};"
        "cluster.up(SandboxPaths(Path(sys.argv[1])), programs)"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, str(paths.folder)],
        cwd=CHECKOUT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_a_cluster_comes_up_once_and_goes_away(
    paths: SandboxPaths, programs: dict[str, Path]
) -> None:
    said: list[str] = []
    kubeconfig = cluster.up(paths, programs, say=said.append)
    assert processes_in(paths.folder) == sorted(PARTS)
    assert cluster.status(paths).ready

    cluster.up(paths, programs, say=said.append)
    assert said[-1] == "cluster is up", "a second `up` starts nothing"

    assert sorted(cluster.down(paths)) == sorted(PARTS)
    assert processes_in(paths.folder) == []
    assert not kubeconfig.exists()
    assert not cluster.status(paths).ready


def test_only_who_is_known_and_trusted_gets_in(
    paths: SandboxPaths, programs: dict[str, Path]
) -> None:
    with api.client(cluster.up(paths, programs, say=silent)) as admin:
        url = str(admin.base_url)
        assert admin.get("/api/v1/secrets").status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(url, trust_env=False, verify=ssl.create_default_context())
    ours = ssl.create_default_context(cafile=paths.cluster / "pki" / "ca.crt")
    stranger = httpx.get(f"{url}/api/v1/secrets", trust_env=False, verify=ours)
    assert stranger.status_code in (401, 403)
    assert (paths.kubeconfig.stat().st_mode & 0o777) == 0o600


def test_parts_that_were_killed_come_back_on_the_same_data_and_address(
    paths: SandboxPaths, programs: dict[str, Path]
) -> None:
    with api.client(cluster.up(paths, programs, say=silent)) as http:
        address = http.base_url
        namespace = {"metadata": {"name": "kept"}}
        http.post("/api/v1/namespaces", json=namespace).raise_for_status()
    for pid in filter(None, cluster.status(paths).parts.values()):
        os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not any(cluster.status(paths).parts.values()))

    with api.client(cluster.up(paths, programs, say=silent)) as http:
        assert http.base_url == address
        assert http.get("/api/v1/namespaces/kept").status_code == 200


@pytest.mark.parametrize("started", ["etcd", "kube-apiserver", "kwok"])
def test_a_start_that_was_killed_half_way_is_repaired_by_the_next(
    paths: SandboxPaths, programs: dict[str, Path], started: str
) -> None:
    starter = start_elsewhere(paths)
    assert eventually((paths.cluster / "pids" / started).exists, 60)
    starter.kill()
    starter.wait()

    cluster.up(paths, programs, say=silent)
    assert processes_in(paths.folder) == sorted(PARTS), "no double, no orphan"


def test_data_of_a_start_that_never_came_up_are_not_kept(
    paths: SandboxPaths, programs: dict[str, Path]
) -> None:
    half_made = paths.cluster / "etcd" / "member" / "wal"
    half_made.mkdir(parents=True)
    (half_made / "0000000000000000-0000000000000000.wal").write_bytes(b"half of it")
    cluster.up(paths, programs, say=silent)
    assert cluster.status(paths).ready


def test_two_starts_at_once_make_one_cluster(
    paths: SandboxPaths, programs: dict[str, Path]
) -> None:
    other = start_elsewhere(paths)
    cluster.up(paths, programs, say=silent)
    assert other.wait(timeout=120) == 0
    assert processes_in(paths.folder) == sorted(PARTS)


def test_a_part_that_cannot_start_is_named_with_its_last_log_line(
    paths: SandboxPaths, programs: dict[str, Path], tmp_path: Path
) -> None:
    broken = tmp_path / "kube-scheduler"
    broken.write_text("#!/bin/sh\necho no such flag >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(SandboxError, match=r"kube-scheduler ended while it started: no such flag"):
        cluster.up(paths, {**programs, "kube-scheduler": broken}, say=silent)
    assert processes_in(paths.folder) == [], "what had started is stopped again"


def test_a_port_in_use_is_one_clear_sentence(
    paths: SandboxPaths, programs: dict[str, Path]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SandboxError, match=f"port {port} on 127.0.0.1 cannot be used"):
            cluster.up(paths, programs, port=port, say=silent)
    assert processes_in(paths.folder) == []


def test_a_remembered_port_that_somebody_took_is_replaced(
    paths: SandboxPaths, programs: dict[str, Path]
) -> None:
    with api.client(cluster.up(paths, programs, say=silent)) as http:
        port = http.base_url.port or 0
    cluster.down(paths, keep=True)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with api.client(cluster.up(paths, programs, say=silent)) as http:
            assert http.base_url.port != port


def test_ports_lost_between_choice_and_start_are_chosen_again(
    paths: SandboxPaths, programs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    to_be_lost = {"etcd": "etcd", "kube-apiserver": "api", "kwok": "kwok", "pods": "network"}
    said: list[str] = []
    save = ports.save

    def losers() -> list[str]:
        again = [line for line in said if line.startswith("starting again on other ports: ")]
        return [line.split(": ")[1].split()[0] for line in again]

    with ExitStack() as thieves:

        def record_and_lose(folder: Path, chosen: ports.Ports) -> None:
            save(folder, chosen)
            # Other tests may take a port as well: what is lost here is lost until it is noticed.
            for noticed in losers()[-1:]:
                to_be_lost.pop(noticed, None)
            for port in list(to_be_lost.values())[:1]:
                thief = thieves.enter_context(socket.socket())
                thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                thief.bind(("127.0.0.1", getattr(chosen, port)))
                thief.listen()

        monkeypatch.setattr(ports, "save", record_and_lose)
        cluster.up(paths, programs, say=said.append, with_pods=True)
        assert cluster.status(paths).ready
    assert {"etcd", "kube-apiserver", "kwok", "pods"} == set(losers())


def test_the_users_own_kubeconfig_is_never_looked_at(
    paths: SandboxPaths, programs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    production = tmp_path / "production"
    production.write_text("not to be touched")
    monkeypatch.setenv("KUBECONFIG", str(production))
    assert cluster.up(paths, programs, say=silent) == paths.kubeconfig
    assert production.read_text() == "not to be touched"


def test_another_cluster_is_used_only_when_asked_for_and_nothing_is_started(
    paths: SandboxPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.write_text("{}")
    monkeypatch.setenv("CODER_STACK_KUBECONFIG", str(other))
    assert cluster.up(paths, {}, say=silent).resolve() == other
    assert processes_in(paths.folder) == []
    assert cluster.status(paths).kind == "external"
    cluster.down(paths)
    assert other.exists(), "the other cluster's file is not ours to delete"


def test_another_cluster_whose_kubeconfig_is_missing_is_one_clear_sentence(
    paths: SandboxPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODER_STACK_KUBECONFIG", str(tmp_path / "nowhere"))
    with pytest.raises(SandboxError, match=r"CODER_STACK_KUBECONFIG names .*nowhere"):
        cluster.up(paths, {}, say=silent)


def test_a_guard_ends_the_cluster_of_a_run_that_was_killed(
    paths: SandboxPaths, programs: dict[str, Path]
) -> None:
    owner = subprocess.Popen(["/bin/sleep", "600"])
    cluster.up(paths, programs, say=silent)
    cluster.stop_after_process(paths, owner.pid)
    owner.kill()
    owner.wait()
    assert eventually(lambda: processes_in(paths.folder) == [], 60)
