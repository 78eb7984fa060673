"""What a watcher does about changes that come back after every repair, on the real engine (N1, N2).

Somebody scales a Deployment, and somebody else deletes the license, as soon as either is repaired.
`FLAPPING_MINUTES=5` is the length; `make flapping` runs this alone.
"""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.drifting import Drifting, drifting
from tests.engine.watching import watching
from tests.http_server import QuietHandler, serve
from tests.simulation import simulated

MINUTES = float(os.environ.get("FLAPPING_MINUTES", "5"))
MOST_RUNS = 12
"""Two objects change: each may start three checks at once, then after 1, 2 and 4 minutes."""
_EVERY_SECONDS = 1.0


@contextmanager
def undone(stack: Drifting) -> Iterator[None]:
    """Undo every repair from a thread of its own until the block ends."""
    ended = threading.Event()
    path = stack.project.path("deployments", "coder")

    def undo() -> None:
        while not ended.wait(_EVERY_SECONDS):
            found = stack.project.cluster.get(path)
            if found and found["spec"]["replicas"] == 0:
                stack.project.cluster.patch(path, {"spec": {"replicas": 3}})
            stack.coderd.lose_licenses()

    thread = threading.Thread(target=undo)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.timeout(3600)
def bench_flapping(engine: Engine, cluster: Cluster, tmp_path: Path) -> None:
    heard: list[str] = []

    class Webhook(QuietHandler):
        def do_POST(self) -> None:
            told = json.loads(self.read_body())
            names = sorted(each["name"] for each in told["resources"])
            heard.append(f"{told['transition']} ({', '.join(names)})")
            self.reply(204, b"")

    with (
        simulated() as coderd,
        drifting(engine, cluster, coderd, tmp_path) as stack,
        serve(Webhook) as port,
    ):
        stack.give("notifyUrl", f"http://127.0.0.1:{port}/hooks/never-to-be-seen")
        with watching(stack, "--repair", "--interval", "5") as watcher:
            watcher.said("checked: clean", seconds=300)
            with undone(stack):
                threading.Event().wait(MINUTES * 60)
        runs = watcher.count("checked:") + watcher.count("error:") - 1
        print(f"\nundone for {MINUTES:g} minutes: {runs} engine runs; told:", *heard, sep="\n  ")
    assert 1 <= runs <= MOST_RUNS
    assert len(heard) == len(set(heard)), "the same state was told twice"
