"""A coderd whose version was not tried, on a real engine: named, never refused, unless by policy.

Its version is what coderd answers; the image of the stack's pods stays.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from coder_stack.coderd.versions import TRIED
from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.guarded import Guarded
from tests.engine_outcome import Outcome
from tests.simulation import simulated

pytestmark = pytest.mark.engine
UNTRIED = f"Coderd is v9.8.7; this program was tried with {TRIED[0]} to {TRIED[-1]}."


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    with simulated() as coderd, deployed(engine, cluster, coderd, tmp_path) as stack:
        stack.give("token", coderd.token)
        yield stack


def warnings(outcome: Outcome) -> int:
    """Count the lines in the engine's diagnostics, which `--diff` does not print."""
    return sum(each.count(f"warning: operator access: {UNTRIED}") for each in outcome.events)


def message(stack: Deployed) -> str:
    (found,) = (
        each["message"]
        for each in stack.project.details()["conditions"]
        if each["type"] == "ControlPlaneReady"
    )
    return found


def test_V1_an_untried_coderd_gets_a_warning_and_a_sentence_and_works(stack: Deployed) -> None:
    assert warnings(stack.up()) == 0
    assert message(stack) == "1 of 1 pods are ready."

    stack.coderd.state.flags.version = "v9.8.7+abc1234"
    assert warnings(stack.preview()) == 1
    assert warnings(stack.up(refresh=True)) == 1
    assert message(stack) == f"1 of 1 pods are ready. {UNTRIED}"
    assert stack.condition("controlPlane", "ControlPlaneReady") == ("True", "Ready")
    assert stack.project.outputs()["ready"] == "True"
    seen = stack.preview()
    assert (seen.changes, warnings(seen)) == ([], 1)

    guarded = Guarded(stack.project)
    advised = guarded.preview()
    assert not advised.failed
    assert "coder-version" in advised.rules("advisory")
    stopped = guarded.preview({"coder-version": "mandatory"})
    assert stopped.failed
    assert stopped.rules("mandatory") == {"coder-version"}

    stack.coderd.state.flags.version = f"{TRIED[-1]}+abc1234"
    assert warnings(stack.up()) == 0
    assert message(stack) == "1 of 1 pods are ready."
