"""What `make measure` and `make soak` print, and when they fail (N1)."""

from pathlib import Path

import pytest
from rich.console import Console

from sandbox.breakage import BREAKAGES, NEEDS_SECOND
from sandbox.errors import SandboxError
from sandbox.watcher.measure import Reaction, late, table
from sandbox.watcher.process import watching
from sandbox.watcher.soak import Soak, compare

FAST = [Reaction(each, 0.5, 6.0, 20.0) for each in BREAKAGES if each != NEEDS_SECOND]


def test_N1_every_breakage_is_in_the_table_beside_the_peers() -> None:
    console = Console(width=100, record=True)
    console.print(table(FAST, 30))
    shown = console.export_text()
    assert all(f" {each.breakage} " in shown for each in FAST)
    assert "coder-k8s" in shown
    assert "OpenTofu" in shown


def test_N1_what_is_noticed_late_is_named() -> None:
    assert late(FAST, 30) == []
    slow = [Reaction("image", 2.1, 3, 4), Reaction("key", 31.9, 40, 50), Reaction("tags", 33, 1, 1)]
    assert late(slow, 30) == ["image", "tags"]


def test_N1_a_soak_is_summed_up() -> None:
    soak = Soak(broken=40, slowest=61.2, watchers=3, memory=[80_000_000, 81_400_000])
    soak.raise_if_grown()
    assert soak.summary() == (
        "40 breakages, all repaired, the slowest after 61 s; nothing lost; 3 watchers; "
        "memory 80 MB at the start, 81 MB at the end"
    )


def test_N1_a_soak_fails_if_the_watcher_grows() -> None:
    soak = Soak(broken=40, watchers=1, memory=[80_000_000, 101_000_000])
    with pytest.raises(SandboxError, match="101 MB at the end"):
        soak.raise_if_grown()


def test_N1_a_soak_fails_if_something_is_lost_or_left_behind() -> None:
    compare(
        {"organizations": 2, "workspaceproxies": 2}, {"organizations": 2, "workspaceproxies": 2}
    )
    with pytest.raises(SandboxError, match="not as before the soak: keys: 2 before, 3 after"):
        compare({"keys": 2, "organizations": 2}, {"keys": 3, "organizations": 2})


def test_N1_a_watcher_that_cannot_start_is_one_sentence_with_what_it_said(tmp_path: Path) -> None:
    with (
        watching(["--interval", "1"], folder=tmp_path, environment={"PATH": ""}) as watcher,
        pytest.raises(SandboxError, match="the watcher did not say `checked: clean`"),
    ):
        watcher.said("checked: clean", seconds=60)
    assert "error: " in watcher.text
