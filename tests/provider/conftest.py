"""A provider process and a simulated coderd for each test that asks for them."""

from collections.abc import Iterator

import pytest

from tests.provider.driver import ProviderProcess, provider_process
from tests.simulation import Simulation, simulated


@pytest.fixture
def coderd() -> Iterator[Simulation]:
    """Enterprise build with an owner, but without a license."""
    with simulated() as simulation:
        yield simulation


@pytest.fixture
def process() -> Iterator[ProviderProcess]:
    with provider_process() as running:
        yield running


@pytest.fixture(scope="module")
def shared_process() -> Iterator[ProviderProcess]:
    """For tests that neither read its stderr nor care what it has in memory for other coderds."""
    with provider_process() as running:
        yield running
