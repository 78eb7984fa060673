"""What the program costs beyond an empty one: ratios of previews on the same engine, in one run."""

from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.bench.timing import ratio
from tests.cluster_access import Cluster
from tests.engine_project import Project


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

    ours = ratio(project.preview, empty.preview)
    refreshed = ratio(lambda: project.preview(refresh=True), project.preview)
    print(f"\npreview of the control plane / of an empty program: {ours:.2f}")
    print(f"preview --refresh / preview of the control plane:   {refreshed:.2f}")
