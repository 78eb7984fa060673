"""Do the same work on several stacks in parallel; an error of one becomes its report."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from enum import IntEnum

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import Project, StackEngine
from coder_stack.operate.report.model import Report
from coder_stack.operate.report.wording import overall_result


class ExitCode(IntEnum):
    """Exit codes of drift, reconcile and status."""

    CLEAN = 0
    ERROR = 1
    DRIFT = 2


def default_jobs() -> int:
    """Return more than the number of cores: an engine mostly waits for plugins and servers."""
    return 3 * (os.cpu_count() or 1)


def exit_code(reports: Iterable[Report]) -> ExitCode:
    """Return the exit code of all reports together."""
    return ExitCode[overall_result(reports).upper()]


def for_each_stack(
    project: Project,
    names: Sequence[str],
    work: Callable[[StackEngine], Report],
    jobs: int,
    log: Callable[[str], None],
) -> list[Report]:
    """Return the reports in the order of the names. Each `pulumi` is a process, so threads do."""

    def report_stack(name: str) -> Report:
        log(f"{name}: started")
        report = _report(project.stack(name), work)
        log(f"{name}: {report.result}")
        return report

    with ThreadPoolExecutor(max(1, min(jobs, len(names)))) as pool:
        return list(pool.map(report_stack, names))


def _report(stack: StackEngine, work: Callable[[StackEngine], Report]) -> Report:
    try:
        return work(stack)
    except OperationError as error:
        now = datetime.now(UTC)
        return Report(schema=1, stack=stack.name, checked_at=now, result="error", error=str(error))
