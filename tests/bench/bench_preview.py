"""What the program costs beyond an empty one: ratios of previews on the same engine, in one run."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.harness import Cluster, Project

_ROUNDS = 5


def seconds(work: Callable[[], object]) -> float:
    """The middle of a few rounds, after one to warm up."""
    work()
    times: list[float] = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


@pytest.mark.timeout(900)
def bench_preview_against_an_empty_program(
    engine: Engine, cluster: Cluster, tmp_path: Path, project: Project
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    empty = Project.create(engine, cluster, folder)
    (empty.folder / "__main__.py").unlink()
    (empty.folder / "__main__.py").write_text("import pulumi\n\npulumi.export('nothing', 1)\n")
    empty.up()
    project.up()

    nothing = seconds(empty.preview)
    ours = seconds(project.preview)
    refreshed = seconds(lambda: project.preview(refresh=True))
    print(f"\npreview of the control plane / of an empty program: {ours / nothing:.2f}")
    print(f"preview --refresh / preview of the control plane:   {refreshed / ours:.2f}")
