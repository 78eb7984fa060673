"""Pulumi's mocks, fresh for each test, on one event loop."""

import asyncio
from collections.abc import Iterator

import pytest
from pulumi.runtime.mocks import set_mocks

from tests.unit.components.rendering import Recorder


@pytest.fixture(scope="package")
def loop() -> Iterator[None]:
    """Pulumi keeps its root resource for the life of the process, bound to one loop."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)


@pytest.fixture
def recorder(loop: None) -> Recorder:  # needed, not used
    mocks = Recorder()
    set_mocks(mocks)
    return mocks
