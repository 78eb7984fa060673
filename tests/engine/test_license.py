"""Licenses on a real engine: up, drift behind Pulumi's back, repair, rotation, faults, destroy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.engine.operated import Operated, operated
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine


@pytest.fixture
def stack(engine: Engine, tmp_path: Path) -> Iterator[Operated]:
    """With a license in its config, and an owner's token."""
    with simulated() as coderd, operated(engine, coderd, tmp_path) as stack:
        stack.give("given", coderd.token)
        stack.give("jwt", license_text())
        yield stack


def uploads(stack: Operated) -> int:
    return len(stack.coderd.requests("POST", "/licenses"))


def test_L3_E1_up_licenses_coderd_and_is_then_done(stack: Operated) -> None:
    stack.up()
    outputs = stack.project.outputs()
    assert outputs["license"] == {"applied": True, "reason": "Applied"}
    assert (outputs["tier"], outputs["proxies"]) == ("premium", "entitled")
    assert outputs["deployment"] == stack.coderd.world.records.deployment_id

    assert stack.preview().changes == []
    assert stack.preview(refresh=True).changes == []
    assert stack.up(refresh=True).changes == []
    assert uploads(stack) == 1
