"""The whole grid behind test_crashes.py: every call that changes anything, times every victim.

Takes about an hour, so `make test` leaves it out by its name; `make crashes` runs it.
"""

from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.cluster_access import OwnCluster
from tests.engine.crashing import VICTIMS, Victim, crashing, table
from tests.engine.test_crashes import live_and_die, settings
from tests.reports import keep_for_the_summary

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("mortal"),
    pytest.mark.timeout(7200),
]


@pytest.mark.parametrize("victim", VICTIMS)
def test_X1_every_call_with_one_victim(
    engine: Engine, mortal_cluster: OwnCluster, tmp_path: Path, victim: Victim
) -> None:
    with crashing(
        engine, mortal_cluster, tmp_path, counts=lambda _call: True, victims=[victim], **settings()
    ) as crashes:
        try:
            live_and_die(crashes)
        finally:
            keep_for_the_summary(f"crashes of {victim}", table(crashes.points))
