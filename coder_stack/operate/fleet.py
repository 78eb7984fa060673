"""Do the same work on several stacks in parallel; an error of one becomes its report."""

import dataclasses
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from enum import IntEnum

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import Project, StackEngine
from coder_stack.operate.progress import Progress
from coder_stack.operate.report.model import Report
from coder_stack.operate.report.summary import overall_result, result_words


class ExitCode(IntEnum):
    """Exit codes of drift, reconcile and status."""

    CLEAN = 0
    ERROR = 1
    DRIFT = 2


def default_jobs() -> int:
    """Return more than the number of cores: an engine mostly waits for plugins and servers."""
    return 3 * (os.cpu_count() or 1)


def exit_code(reports: Sequence[Report], *, readiness: bool = False) -> ExitCode:
    """Return the exit code of all reports together; `readiness` also asks for ready stacks."""
    worst = overall_result(reports)
    if worst == "error":
        return ExitCode.ERROR
    ready = not readiness or all(report.readiness == "ready" for report in reports)
    return ExitCode.CLEAN if ready and worst != "drift" else ExitCode.DRIFT


def for_each_stack(
    project: Project,
    names: Sequence[str],
    work: Callable[[StackEngine], Report],
    jobs: int,
    progress: Progress,
) -> list[Report]:
    """Return the reports in the order of the names. Each `pulumi` is a process, so threads do."""
    watched = dataclasses.replace(project, watch=progress.show)

    def report_stack(name: str) -> Report:
        progress.start(name)
        report = _report(watched.stack(name), work)
        progress.end(name, result_words(report.result))
        return report

    with ThreadPoolExecutor(max(1, min(jobs, len(names)))) as pool:
        return list(pool.map(report_stack, names))


def _report(stack: StackEngine, work: Callable[[StackEngine], Report]) -> Report:
    try:
        return work(stack)
    except OperationError as error:
        return failed_report(stack.name, error)


def failed_report(stack: str, error: OperationError) -> Report:
    """Return the report of a stack that could not be checked at all."""
    return Report(
        stack=stack,
        written_at=datetime.now(UTC),
        checked_at=None,
        result="error",
        error=str(error),
        error_next_step=error.next_step(stack),
    )
