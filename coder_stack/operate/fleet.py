"""The same work on several stacks side by side; one that fails is a report like the others."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from enum import IntEnum

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import Project, StackEngine
from coder_stack.operate.report.model import Report

__all__ = ["Verdict", "each_stack", "jobs_by_default", "verdict"]


class Verdict(IntEnum):
    """Exit codes; an error outweighs drift."""

    CLEAN = 0
    ERROR = 1
    DRIFT = 2


def jobs_by_default() -> int:
    """More than cores: an engine mostly waits, for its plugins, the cluster and coderd."""
    return 3 * (os.cpu_count() or 1)


def verdict(reports: Iterable[Report]) -> Verdict:
    """Of all together."""
    results = {report.result for report in reports}
    if "error" in results:
        return Verdict.ERROR
    return Verdict.DRIFT if "drift" in results else Verdict.CLEAN


def each_stack(
    project: Project,
    names: Sequence[str],
    work: Callable[[StackEngine], Report],
    jobs: int,
    say: Callable[[str], None],
) -> list[Report]:
    """In the order of the names. Threads are enough: each `pulumi` is a process of its own."""

    def done(name: str) -> Report:
        say(f"{name}: started")
        report = _reported(project.stack(name), work)
        say(f"{name}: {report.result}")
        return report

    with ThreadPoolExecutor(max(1, min(jobs, len(names)))) as side_by_side:
        return list(side_by_side.map(done, names))


def _reported(stack: StackEngine, work: Callable[[StackEngine], Report]) -> Report:
    try:
        return work(stack)
    except OperationError as error:
        now = datetime.now(UTC)
        return Report(schema=1, stack=stack.name, checked_at=now, result="error", error=str(error))
