"""A lower version than the running one, by the config or by hand, on the real engine (V2)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine.drifting import report_of
from tests.engine.upgrading import NEW, OLD, answered, set_image, tag_of, want
from tests.simulation import simulated
from tests.waiting import eventually

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("impatient")]
LOWER = f"controlPlane.image.tag: {OLD} is lower than {NEW}, which coderd runs in the cluster"


@pytest.fixture
def stack(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Deployed]:
    """A control plane of the old version."""
    with (
        simulated(licensed=True) as coderd,
        deployed(engine, cluster, coderd, tmp_path) as stack,
    ):
        stack.give("token", coderd.token)
        stack.up()
        yield stack


def test_V2_a_lower_tag_is_refused_before_anything_changes_unless_it_is_allowed(
    stack: Deployed,
) -> None:
    want(stack, "v2.29.0")
    for run in (stack.preview, stack.up):
        said = stack.failure(run)
        assert "1 mistake in the stack's config; nothing was changed:" in said
        assert f"controlPlane.image.tag: v2.29.0 is lower than {OLD}, which coderd runs" in said
        assert "restore a backup of v2.29.0 and set controlPlane.allowDowngrade: true" in said
        assert "Traceback" not in said
    assert (tag_of(stack, "coder"), answered(stack)) == (OLD, OLD)

    want(stack, "v2.29.0", allowDowngrade=True)
    assert f"coderd is downgraded from {OLD} to v2.29.0" in stack.up().text
    assert (tag_of(stack, "coder"), answered(stack)) == ("v2.29.0", "v2.29.0")


def test_V2_an_image_raised_by_hand_is_named_and_never_repaired_to_the_lower_one(
    stack: Deployed,
) -> None:
    set_image(stack, f"ghcr.io/coder/coder:{NEW}")
    assert eventually(lambda: answered(stack) == NEW)

    for verb in ("drift", "reconcile"):
        code, report = report_of(stack, verb)
        assert (code, report["result"]) == (1, "error")
        assert LOWER in report["error"]
        assert f"Set controlPlane.image.tag to {NEW}, or restore a backup" in report["error"]
    assert tag_of(stack, "coder") == NEW

    want(stack, NEW)
    stack.up(refresh=True)
    assert report_of(stack, "drift")[0] == 0


def test_V2_coderds_own_answer_refuses_what_an_unknown_tag_would_let_pass(
    stack: Deployed,
) -> None:
    set_image(stack, "example.invalid/coder:latest")
    flags = stack.coderd.state.flags
    stack.coderd.state.flags = replace(flags, version=f"{NEW}+simulated")
    assert f"{LOWER} (as it answers itself)" in stack.failure(stack.up)

    stack.coderd.state.flags = flags
    assert "lower" not in stack.up(refresh=True).text, "an unknown tag is repaired"
    assert tag_of(stack, "coder") == OLD
