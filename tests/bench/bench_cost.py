"""What many provisioners cost, beside a program with trivial resources.

Each figure is a ratio within this run. Two stacks of ours are measured: one whose provisioners each
have an account of their own, which is the default, and one whose provisioners share an account. The
floor has as many resources as the first. The table is printed, and appended to `bench.md` in the
cache. `BENCH_SIZES=10,50` measures fewer.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from sandbox.toolchain import cache_dir
from tests.bench.floor import Floor
from tests.bench.memory import PeakMemory
from tests.bench.timing import seconds
from tests.cluster_access import Cluster
from tests.engine.deployed import Deployed, deployed
from tests.engine_project import Project
from tests.simulation import simulated

SIZES = [int(each) for each in os.environ.get("BENCH_SIZES", "10,50,150").split(",")]
OWN, SHARED, FLOOR = "own", "shared", "floor"
_LOOKS = 3
_PREVIEW = ("preview",)
_LOOK = ("preview", "--refresh", "--run-program")
_UP = ("up", "--yes", "--skip-preview")


@dataclass
class Column:
    """The figures of one size: by row, then by stack."""

    size: int
    times: dict[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    facts: dict[str, str] = field(default_factory=dict[str, str])

    def compare(self, row: str, work: Mapping[str, Callable[[], object]], times: int = 1) -> None:
        """Take the fastest of a few, turn about: what is slower was the machine."""
        rounds = [{name: seconds(each) for name, each in work.items()} for _ in range(times)]
        self.times[row] = {name: min(each[name] for each in rounds) for name in work}
        print(f"{self.size:4} {row:22} {self.cell(row)}", flush=True)

    def cell(self, row: str) -> str:
        """Return seconds and ratios."""
        own, shared, floor = (self.times[row][name] for name in (OWN, SHARED, FLOOR))
        ratios = f"{own / floor:.2f} / {shared / floor:.2f}"
        return f"{own:.1f} / {shared:.1f} / {floor:.1f} s = {ratios}"


@dataclass
class Stacks:
    """Both stacks of ours and the floor, of one size."""

    ours: Mapping[str, Deployed]
    floor: Floor

    @property
    def projects(self) -> dict[str, Project]:
        """All three, by name."""
        found = {name: each.project for name, each in self.ours.items()}
        return {**found, FLOOR: self.floor.project}

    def resize(self, provisioners: int, tag: str = "0") -> None:
        """Declare so many, of which the first has this tag."""
        self.floor.resize(provisioners)
        self.floor.change(tag)
        for name, stack in self.ours.items():
            account = {"account": "builders"} if name == SHARED else {}
            fleet = [_provisioner(number, tag) | account for number in range(provisioners)]
            stack.configure(provisioners=fleet)

    def running(self, *command: str) -> dict[str, Callable[[], Any]]:
        """Return what runs this command of Pulumi, by stack."""
        return {
            name: lambda project=project: project.pulumi(*command)
            for name, project in self.projects.items()
        }


@pytest.mark.timeout(7200)
def bench_cost(engine: Engine, cluster: Cluster, tmp_path: Path) -> None:
    columns = [_measure(engine, cluster, tmp_path / str(size), size) for size in SIZES]
    table = _table(columns, engine)
    print(f"\n{table}")
    with (cache_dir() / "bench.md").open("a") as results:
        results.write(f"{table}\n")


def _measure(engine: Engine, cluster: Cluster, folder: Path, size: int) -> Column:
    folder.mkdir()
    column = Column(size)
    with _stacks(engine, cluster, folder) as stacks, PeakMemory(folder) as memory:
        stacks.resize(size)
        try:
            column.compare("first up", stacks.running(*_UP))
            exported = {name: len(_export(each)) for name, each in stacks.projects.items()}
            column.facts["state per provisioner"] = _bytes(exported, size)
            column.facts["lines of an up without changes"] = " / ".join(
                str(len(each.project.pulumi("up", "--yes").stdout.splitlines()))
                for each in stacks.ours.values()
            )
            column.compare("preview", stacks.running(*_PREVIEW), _LOOKS)
            column.facts["requests of a refresh"] = _requests(stacks)
            column.compare("preview --refresh", stacks.running(*_LOOK), _LOOKS)
            looks = {name: _drift(each.project) for name, each in stacks.ours.items()}
            floor = stacks.running(*_LOOK)[FLOOR]
            column.compare("coder-stack drift", {**looks, FLOOR: floor}, _LOOKS)
            stacks.resize(size + 1)
            column.compare("one added", stacks.running(*_UP))
            stacks.resize(size + 1, "1")
            column.compare("one tag changed", stacks.running(*_UP))
        finally:
            column.compare("destroy", stacks.running("destroy", "--yes", "--skip-preview"))
        column.facts["peak of a provider process"] = memory.said()
    return column


@contextmanager
def _stacks(engine: Engine, cluster: Cluster, folder: Path) -> Generator[Stacks]:
    with ExitStack() as open_:
        ours = dict[str, Deployed]()
        for name in (OWN, SHARED):
            (folder / name).mkdir()
            coderd = open_.enter_context(simulated(licensed=True))
            stack = open_.enter_context(deployed(engine, cluster, coderd, folder / name))
            stack.give("token", coderd.token)
            ours[name] = stack
        yield Stacks(ours, Floor(engine, cluster, folder / FLOOR))


def _provisioner(number: int, tag: str) -> dict[str, Any]:
    changed = {"changed": tag} if number == 0 else {}
    return {"name": f"p{number}", "key": {"tags": {"number": str(number), **changed}}}


def _drift(project: Project) -> Callable[[], object]:
    command = [sys.executable, "-m", "coder_stack.cli", "drift", "--stack", project.stack.name]
    environment = {**os.environ, **project.environment}

    def run() -> None:
        subprocess.run(
            command, cwd=project.folder, env=environment, check=True, capture_output=True
        )

    return run


def _export(project: Project) -> str:
    return project.pulumi("stack", "export").stdout


def _bytes(exported: Mapping[str, int], size: int) -> str:
    own, shared, floor = (exported[name] / size / 1000 for name in (OWN, SHARED, FLOOR))
    ratios = f"{own / floor:.2f} / {shared / floor:.2f}"
    return f"{own:.1f} / {shared:.1f} / {floor:.1f} kB = {ratios}"


def _requests(stacks: Stacks) -> str:
    """Count what one refresh of each asks; daemons and other pods ask by themselves."""
    counts: list[str] = []
    for each in stacks.ours.values():
        each.coderd.forget_requests()
        each.project.pulumi(*_LOOK)
        theirs = ("/provisionerdaemons/serve", "/workspaceproxies/me/")
        asked = [one for one in each.coderd.requests() if not any(path in one for path in theirs)]
        counts.append(str(len(asked)))
    return " / ".join(counts)


def _table(columns: list[Column], engine: Engine) -> str:
    rows = [[row, *(each.cell(row) for each in columns)] for row in columns[0].times]
    rows += [[fact, *(each.facts[fact] for each in columns)] for fact in columns[0].facts]
    if len(columns) > 1:
        rows += [[f"{row}, per provisioner", "", *_growth(columns, row)] for row in _GROWING]
    head = ["own accounts / shared / floor", *(f"{each.size} provisioners" for each in columns)]
    lines = [head, ["---"] * len(head), *rows]
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    plugin = engine.plugin.source
    about = f"{when}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, plugin: {plugin}"
    return "\n".join([about, "", *(f"| {' | '.join(line)} |" for line in lines), ""])


_GROWING = ("first up", "preview", "preview --refresh", "coder-stack drift")


def _growth(columns: list[Column], row: str) -> list[str]:
    """Return how much longer each provisioner takes than at the size before."""
    return [
        " / ".join(
            f"{(now.times[row][name] / now.size) / (before.times[row][name] / before.size):.2f}"
            for name in (OWN, SHARED, FLOOR)
        )
        for before, now in pairwise(columns)
    ]
