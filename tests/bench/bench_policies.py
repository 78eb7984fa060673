"""What the policy pack adds to a preview of fifty provisioners: a ratio, in one run."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.engine.deployed import deployed
from tests.engine.guarded import Guarded
from tests.harness import Cluster
from tests.simulation import simulated

_ROUNDS = 3
_AT_MOST = 1.25
_FLEET = [{"name": f"pool-{n}", "key": {"tags": {"pool": str(n)}}} for n in range(50)]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@pytest.mark.timeout(1800)
def bench_the_pack_on_fifty_provisioners(engine: Engine, cluster: Cluster, tmp_path: Path) -> None:
    with (
        simulated(licensed=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path, provisioners=_FLEET) as stack,
    ):
        stack.give("token", coderd.token)
        guarded = Guarded(stack.project)
        warm = guarded.preview()
        assert not warm.failed, warm.text
        # Turn about, so that a change of the machine's mood counts for both.
        pairs = [(seconds(stack.project.preview), seconds(guarded.preview)) for _ in range(_ROUNDS)]
    for plain, with_pack in pairs:
        print(f"\npreview {plain:.1f} s, with the pack {with_pack:.1f} s")
    ratio = statistics.median(with_pack / plain for plain, with_pack in pairs)
    print(f"preview with the policy pack / without: {ratio:.2f} (at most {_AT_MOST})")
    assert ratio < _AT_MOST
