"""A bench measures what users have: Python processes that start by themselves."""

import pytest

from tests import warm_python


@pytest.fixture(autouse=True)
def plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_python, "available", lambda: False)
