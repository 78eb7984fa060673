"""What a look at several stacks side by side saves over one after another, as a ratio."""

import io
import os
from pathlib import Path

import pytest
from pulumi import automation as auto

from coder_stack.operate.drift import check_drift
from coder_stack.operate.engine.pulumi import Project as Stacks
from coder_stack.operate.fleet import default_jobs, for_each_stack
from coder_stack.operate.progress import PlainProgress
from sandbox.engine import Engine
from tests.bench.timing import ratio
from tests.engine.operated import PROGRAM
from tests.engine_project import PROJECT, Project
from tests.simulation import simulated

_STACKS = 5
_ROUNDS = 3


@pytest.mark.timeout(1800)
def bench_a_fleet_of_five(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with simulated() as coderd:
        project = Project.create(engine, None, tmp_path, PROGRAM)
        for name, value in project.environment.items():
            monkeypatch.setenv(name, value)
        names = [f"s{number}" for number in range(_STACKS)]
        for name in names:
            stack = auto.create_stack(stack_name=name, work_dir=str(project.folder))
            stack.set_config(f"{PROJECT}:url", auto.ConfigValue(coderd.url))
            stack.set_config(f"{PROJECT}:given", auto.ConfigValue(coderd.token, secret=True))
            stack.up()

        def look_at_all(jobs: int) -> None:
            reports = for_each_stack(
                Stacks.at(project.folder),
                names,
                lambda each: check_drift(each).report,
                jobs,
                PlainProgress(io.StringIO()),
            )
            assert [report.result for report in reports] == ["clean"] * _STACKS

        saved = ratio(lambda: look_at_all(1), lambda: look_at_all(default_jobs()), _ROUNDS)
    print(f"\n{_STACKS} stacks one after another / side by side: {saved:.2f}")
    if (os.cpu_count() or 1) >= 2:
        assert saved >= 1.6
