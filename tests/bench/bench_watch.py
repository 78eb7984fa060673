"""What a watcher of fifty provisioners costs while nothing happens (N1).

`REST_MINUTES=10` is the length of the rest; `make rest` runs this alone.
"""

import os
import time
from pathlib import Path

import psutil
import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import deployed
from tests.engine.watching import watching
from tests.simulation import license_text, simulated

PROVISIONERS = 50
_ONE_POLL = 2
"""Of keys and licenses. Two in 31 s and the entitlements in ten minutes are 3.97 in a minute, but a
time that is no multiple of the interval may begin and end with a poll."""
MINUTES = float(os.environ.get("REST_MINUTES", "10"))


@pytest.mark.timeout(3600)
def bench_watch_at_rest(engine: Engine, cluster: Cluster, tmp_path: Path) -> None:
    fleet = [{"name": f"p{n}", "key": {"tags": {"number": str(n)}}} for n in range(PROVISIONERS)]
    with (
        simulated() as coderd,
        deployed(engine, cluster, coderd, tmp_path, provisioners=fleet) as stack,
    ):
        stack.give("token", coderd.token)
        stack.give("licenseJwt", license_text())
        stack.up()
        try:
            with watching(stack, "--repair") as watcher:
                watcher.said("checked: clean", seconds=300)
                said, (before, _) = len(watcher.lines), watcher.usage()
                coderd.forget_requests()
                time.sleep(MINUTES * 60)
                lists = sum(
                    request.endswith(("/provisionerkeys", "/licenses", "/entitlements"))
                    for request in coderd.requests("GET")
                )
                after, memory = watcher.usage()
                looks = len(watcher.lines) - said
        finally:
            stack.destroy()
    share = (after - before) / (MINUTES * 60)
    print(
        f"\n{PROVISIONERS} provisioners at rest for {MINUTES:g} minutes: "
        f"{lists / MINUTES:.1f} requests a minute, {looks} lines, "
        f"{memory / 1e6:.0f} MB, {share:.2%} of a core, {psutil.cpu_count()} cores"
    )
    assert lists <= 4 * MINUTES + _ONE_POLL
    assert looks == 0
    assert memory <= 120e6
    assert share <= 0.01
