"""One check or repair in a process of its own; the watcher itself stays small (N1).

`python -m coder_stack.operate.watch.engine_look` runs what `coder-stack drift` and `reconcile` run,
and writes a line of JSON to a file as soon as something is known: `found` after the first check,
`done` at the end, `locked` if another update runs, `failed` if nothing could be checked.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from coder_stack.operate.drift import check_drift
from coder_stack.operate.engine import process
from coder_stack.operate.engine.errors import LockedError, OperationError
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.fleet import failed_report
from coder_stack.operate.reconcile import Limits, reconcile_stack
from coder_stack.operate.report.model import Report

Word = Literal["found", "done", "locked"]
_LOCK_WAIT_SECONDS = 30.0
"""How long a repair waits for an update that started after its check."""


@dataclass(frozen=True)
class Progress:
    """One line of a look."""

    word: Word
    report: Report | None = None


def look(
    folder: Path,
    stack: str,
    *,
    repair: bool,
    told: Callable[[Progress], None],
    poll: Callable[[], None],
) -> None:
    """Run one look, and pass on what it says as it says it; `poll` is called while it runs.

    Raise Interrupted after a signal, when Pulumi has ended and released its lock.
    """
    with tempfile.TemporaryDirectory(prefix="coder-stack-") as work:
        file = Path(work) / "lines"
        file.touch()
        command = [sys.executable, "-m", __name__, str(folder), stack, str(file)]
        with file.open() as lines:

            def read_on() -> None:
                for line in _whole(lines):
                    told(_parsed(line))
                poll()

            done = process.run(
                [*command, *(["--repair"] if repair else [])],
                cwd=Path.cwd(),
                env=os.environ,
                cancel=f"pulumi cancel --stack {stack}",
                poll=read_on,
            )
            read_on()
    if done.code:
        raise OperationError(f"The check of the stack ended with exit code {done.code}.")


def _whole(lines: IO[str]) -> Iterator[str]:
    while True:
        begin = lines.tell()
        line = lines.readline()
        if not line.endswith("\n"):
            lines.seek(begin)
            return
        yield line


def _parsed(line: str) -> Progress:
    content: dict[str, Any] = json.loads(line)
    report = content.get("report")
    return Progress(content["word"], Report.model_validate(report) if report else None)


def main() -> None:
    """Run in the process of its own."""
    arguments = argparse.ArgumentParser()
    for name in ("folder", "stack", "file"):
        arguments.add_argument(name)
    arguments.add_argument("--repair", action="store_true")
    given = arguments.parse_args()
    # Started in the background of a shell, the watcher ignores it, and so would this process.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Path(given.file).open("a", encoding="utf-8") as file:

        def write(word: Word, report: Report | None = None) -> None:
            content = {
                "word": word,
                "report": report and report.model_dump(mode="json", by_alias=True),
            }
            file.write(json.dumps(content) + "\n")
            file.flush()

        try:
            with process.interruptible(lambda _: None):
                ended = _result(given, lambda found: write("found", found))
                write("done", ended)
        except LockedError:
            write("locked")
        except process.Interrupted as interrupted:
            sys.exit(interrupted.exit_code)


def _result(given: argparse.Namespace, tell: Callable[[Report], None]) -> Report:
    """Return the report; raise LockedError, because another update is no error of the stack."""
    try:
        stack = Project.at(Path(given.folder)).stack(given.stack)
        if not given.repair:
            return check_drift(stack).report
        return reconcile_stack(stack, Limits(wait_seconds=_LOCK_WAIT_SECONDS), tell)
    except LockedError:
        raise
    except OperationError as error:
        return failed_report(given.stack, error)


if __name__ == "__main__":
    main()
