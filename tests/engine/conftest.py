"""What several files of engine tests ask for."""

import pytest


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coderd that does not answer is given up on within seconds, as whoever tests it wants."""
    monkeypatch.setenv("CODER_STACK_DEADLINE", "5")
