"""The processes of a cluster: ended in order, asked first, insisted on then."""

import time
from pathlib import Path

import psutil

from sandbox.cluster.process import ClusterProcess, stop

# The folder is in each command line, as it is in those of the real parts: by it a pid is believed.
_WAITS = "touch {ready}; while :; do sleep 0.01; done"
_HEEDS = 'trap "ls {folder}/ends > {folder}/ends/$0; exit" TERM; ' + _WAITS
_IGNORES = 'trap "" TERM; ' + _WAITS


def started(folder: Path, name: str, script: str) -> ClusterProcess:
    part, ready = ClusterProcess(name, folder), folder / f"{name}-ready"
    part.start(["/bin/sh", "-c", script.format(folder=folder, ready=ready), name])
    while not ready.exists():
        time.sleep(0.01)
    return part


def test_each_is_gone_before_the_next_is_asked(tmp_path: Path) -> None:
    (tmp_path / "ends").mkdir()
    parts = [started(tmp_path, name, _HEEDS) for name in ("reader", "server", "store")]

    assert stop(parts) == ["reader", "server", "store"]
    seen = {path.name: path.read_text().split() for path in (tmp_path / "ends").iterdir()}
    assert seen == {
        "reader": ["reader"],
        "server": ["reader", "server"],
        "store": ["reader", "server", "store"],
    }
    assert [part.process() for part in parts] == [None, None, None]
    assert stop(parts) == [], "nobody is left to be stopped"


def test_who_does_not_listen_is_killed(tmp_path: Path) -> None:
    deaf = started(tmp_path, "deaf", _IGNORES)
    process = deaf.process()
    assert process

    assert stop([deaf], grace=0.2) == ["deaf"]
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    assert not deaf.pid_file.exists()
