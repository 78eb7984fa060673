"""A simulated coderd, and what polls it until the test ends."""

from collections.abc import Iterator

import pytest

from tests.simulation import Simulation, simulated
from tests.unit.operate.watch.coderd_polls import OPEN


@pytest.fixture
def coderd() -> Iterator[Simulation]:
    with simulated(licensed=True) as coderd:
        yield coderd
        while OPEN:
            OPEN.pop().close()
