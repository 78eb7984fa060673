"""A download site for each test that asks for one."""

from collections.abc import Iterator

import pytest

from tests.unit.toolchain.vendor_site import Site, serving


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as running:
        yield running
