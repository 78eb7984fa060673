"""What many provisioners cost, beside a program that does nothing with as many resources.

Each figure is a ratio within this run. The table is printed, and appended to `bench.md` in the
cache. `BENCH_SIZES=10,50` measures fewer. The provisioners share an account, as docs/size.md
advises for many; with `BENCH_ACCOUNTS=own` each has its own.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from coder_stack.operate.drift import check_drift
from coder_stack.operate.engine.pulumi import Project as Stacks
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
_SHARED = os.environ.get("BENCH_ACCOUNTS", "shared") == "shared"
_LOOKS = 3


@dataclass
class Column:
    """The figures of one size, by row."""

    size: int
    ours: dict[str, float] = field(default_factory=dict[str, float])
    floor: dict[str, float] = field(default_factory=dict[str, float])
    facts: dict[str, str] = field(default_factory=dict[str, str])

    def compare(
        self,
        row: str,
        ours: Callable[[], object],
        floor: Callable[[], object],
        times: int = 1,
    ) -> None:
        """Take the fastest of a few, turn about: what is slower was the machine."""
        pairs = [(seconds(ours), seconds(floor)) for _ in range(times)]
        self.ours[row] = min(first for first, _ in pairs)
        self.floor[row] = min(second for _, second in pairs)
        print(f"{self.size:4} {row:22} {self.cell(row)}", flush=True)

    def cell(self, row: str) -> str:
        """Return seconds and their ratio."""
        ours, floor = self.ours[row], self.floor[row]
        return f"{ours:.1f} s / {floor:.1f} s = {ours / floor:.2f}"


@pytest.mark.timeout(7200)
def bench_cost(
    engine: Engine, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = [_measure(engine, cluster, tmp_path / str(n), n, monkeypatch) for n in SIZES]
    table = _table(columns, engine)
    print(f"\n{table}")
    with (cache_dir() / "bench.md").open("a") as results:
        results.write(f"{table}\n")


def _measure(
    engine: Engine,
    cluster: Cluster,
    folder: Path,
    size: int,
    monkeypatch: pytest.MonkeyPatch,
) -> Column:
    folder.mkdir()
    column = Column(size)
    with _stack(engine, cluster, folder / "ours") as stack, PeakMemory(folder / "ours") as memory:
        floor = Floor(engine, cluster, folder / "floor")
        for name, value in stack.project.environment.items():
            monkeypatch.setenv(name, value)

        def resize(provisioners: int, tag: str = "0") -> None:
            floor.resize(provisioners)
            floor.change(tag)
            stack.configure(provisioners=[_provisioner(n, tag) for n in range(provisioners)])

        def run(project: Project, *command: str) -> Callable[[], Any]:
            return lambda: project.pulumi(*command)

        def both(row: str, *command: str, times: int = 1) -> None:
            column.compare(row, run(stack.project, *command), run(floor.project, *command), times)

        up = ("up", "--yes", "--skip-preview")
        resize(size)
        try:
            both("first up", *up)
            column.facts["state per provisioner"] = _state(stack.project, floor.project, size)
            column.facts["lines of an up without changes"] = str(
                len(stack.project.pulumi(*up).stdout.splitlines())
            )
            both("preview", "preview", times=_LOOKS)
            looking = ("preview", "--refresh", "--run-program")
            stack.coderd.forget_requests()
            both("preview --refresh", *looking, times=_LOOKS)
            column.facts["requests of a refresh"] = str(_own_requests(stack) // _LOOKS)
            column.compare(
                "drift",
                lambda: check_drift(
                    Stacks.at(stack.project.folder).stack(stack.project.stack.name)
                ),
                run(floor.project, *looking),
                _LOOKS,
            )
            resize(size + 1)
            both("one added", *up)
            resize(size + 1, "1")
            both("one tag changed", *up)
        finally:
            both("destroy", "destroy", "--yes", "--skip-preview")
        column.facts["provider process"] = memory.said()
    return column


@contextmanager
def _stack(engine: Engine, cluster: Cluster, folder: Path) -> Generator[Deployed]:
    folder.mkdir()
    with (
        simulated(licensed=True) as coderd,
        deployed(engine, cluster, coderd, folder) as stack,
    ):
        stack.give("token", coderd.token)
        yield stack


def _provisioner(number: int, tag: str) -> dict[str, Any]:
    changed = {"changed": tag} if number == 0 else {}
    shared = {"account": "shared"} if _SHARED else {}
    return {"name": f"p{number}", "key": {"tags": {"number": str(number), **changed}}, **shared}


def _state(ours: Project, floor: Project, size: int) -> str:
    first, second = (len(each.pulumi("stack", "export").stdout) for each in (ours, floor))
    return f"{first / size / 1000:.1f} kB / {second / size / 1000:.1f} kB = {first / second:.2f}"


def _own_requests(stack: Deployed) -> int:
    """Count what the stack asked; daemons and other pods ask by themselves."""
    theirs = ("/provisionerdaemons/serve", "/workspaceproxies/me/")
    return sum(not any(each in request for each in theirs) for request in stack.coderd.requests())


def _table(columns: list[Column], engine: Engine) -> str:
    rows = [[row, *(each.cell(row) for each in columns)] for row in columns[0].ours]
    rows += [[fact, *(each.facts[fact] for each in columns)] for fact in columns[0].facts]
    if len(columns) > 1:
        rows.append(["first up per provisioner, against the size before", "", *_growth(columns)])
    head = ["ours / floor", *(f"{each.size} provisioners" for each in columns)]
    lines = [head, ["---"] * len(head), *rows]
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    accounts = "one account for all" if _SHARED else "an account for each"
    about = f"{when}, {os.cpu_count()} cores, {accounts}, Kubernetes plugin: {engine.plugin.source}"
    return "\n".join([about, "", *(f"| {' | '.join(line)} |" for line in lines), ""])


def _growth(columns: list[Column]) -> list[str]:
    per = [each.ours["first up"] / each.size for each in columns]
    return [f"{now / before:.2f}" for before, now in pairwise(per)]
