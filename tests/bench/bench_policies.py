"""What the policy pack adds to a preview of fifty provisioners: a ratio, in one run."""

from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.bench.timing import ratio
from tests.cluster_access import Cluster
from tests.engine.deployed import deployed
from tests.engine.guarded import Guarded
from tests.simulation import simulated

_ROUNDS = 3
_AT_MOST = 1.25
_FLEET = [{"name": f"pool-{n}", "key": {"tags": {"pool": str(n)}}} for n in range(50)]


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
        found = ratio(guarded.preview, lambda: stack.project.attempt("preview"), _ROUNDS)
    print(f"\npreview with the policy pack / without: {found:.2f} (at most {_AT_MOST})")
    assert found < _AT_MOST
