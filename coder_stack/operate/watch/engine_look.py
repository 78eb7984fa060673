"""One check or repair in a process of its own; the watcher itself stays small (N1).

`python -m coder_stack.operate.watch.engine_look` runs what `coder-stack drift` and `reconcile` run,
and writes a line of JSON to a file as soon as something is known: `found` after the first check,
`done` at the end, `locked` if another update runs. If the watcher is killed, it ends as after
SIGTERM: nobody repairs beside the next watcher.
"""

import argparse
import json
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal

from coder_stack.operate.drift import check_drift
from coder_stack.operate.engine import process
from coder_stack.operate.engine.errors import (
    LeftLockError,
    LockedError,
    LockHolder,
    OperationError,
    locked,
)
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.fleet import failed_report
from coder_stack.operate.reconcile import Limits, reconcile_stack
from coder_stack.operate.report.model import Report

Word = Literal["found", "done", "locked"]
_LOCK_WAIT_SECONDS = 30.0
"""How long a repair waits for an update that started after its check."""
_WATCHER_POLL_SECONDS = 0.5
_EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)
"""The last line of a traceback begins with it."""


@dataclass(frozen=True)
class Progress:
    """One line of a look."""

    word: Word
    report: Report | None = None
    locked: LockedError | None = None


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
        command += ["--watcher", str(os.getpid())]
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
        raise OperationError(
            f"The check of the stack ended with exit code {done.code}{_kind(done.stderr)}."
        )


def _kind(stderr: str) -> str:
    """Return what kind of exception ended it; its text may hold what nobody may read."""
    found = _EXCEPTION.findall(stderr)
    return f" ({found[-1]})" if found else ""


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
    if content["word"] == "locked":
        holder = LockHolder(**content["holder"]) if content["holder"] else None
        left = LeftLockError(holder) if holder and content["left"] else None
        return Progress("locked", locked=left or locked(holder))
    return Progress(content["word"], Report.model_validate(content["report"]))


def main() -> None:
    """Run in the process of its own."""
    arguments = argparse.ArgumentParser()
    for name in ("folder", "stack", "file"):
        arguments.add_argument(name)
    arguments.add_argument("--watcher", type=int, default=os.getppid())
    arguments.add_argument("--repair", action="store_true")
    given = arguments.parse_args()
    # Started in the background of a shell, the watcher ignores it, and so would this process.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Path(given.file).open("a", encoding="utf-8") as file:

        def write(word: Word, **content: Any) -> None:
            file.write(json.dumps({"word": word, **content}) + "\n")
            file.flush()

        def tell(word: Word, report: Report) -> None:
            write(word, report=report.model_dump(mode="json", by_alias=True))

        try:
            with process.interruptible(lambda _: None):
                threading.Thread(target=_end_with, args=(given.watcher,), daemon=True).start()
                tell("done", _result(given, lambda found: tell("found", found)))
        except LockedError as error:
            holder = asdict(error.holder) if error.holder else None
            write("locked", holder=holder, left=isinstance(error, LeftLockError))
        except process.Interrupted as interrupted:
            sys.exit(interrupted.exit_code)


def _end_with(watcher: int) -> None:
    while os.getppid() == watcher:
        time.sleep(_WATCHER_POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


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
