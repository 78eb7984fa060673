"""A bench measures what users have: processes that start by themselves, with their own settings."""

import pytest

from tests import warm_python


@pytest.fixture(autouse=True)
def plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_python, "available", lambda: False)
    # What tests/conftest.py sets for the engine.
    monkeypatch.delenv("GOGC", raising=False)
    monkeypatch.delenv("GOMEMLIMIT", raising=False)
