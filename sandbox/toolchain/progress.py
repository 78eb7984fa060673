"""Progress of installations on stderr: an animated line on a terminal, plain lines in a log."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from typing import IO, Protocol

from rich.console import Console
from rich.progress import Progress as LiveDisplay
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

HEARTBEAT_SECONDS = 30.0


def duration(seconds: float) -> str:
    """Format a duration: 7 s, 2 min 05 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"


class ProgressReporter(Protocol):
    """The interface for reporting progress."""

    def say(self, line: str) -> None:
        """Print a permanent line."""
        ...

    def step(
        self, name: str, doing: str
    ) -> contextlib.AbstractContextManager[Callable[[str], None]]:
        """Show a step until the block ends; the yielded function sets a detail."""
        ...


class PlainProgress:
    """Prints a line at the start of a step, and then regularly the elapsed time."""

    def __init__(self, stream: IO[str], *, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        self._stream = stream
        self._heartbeat = heartbeat_seconds

    def say(self, line: str) -> None:
        """Print one line."""
        self._stream.write(line + "\n")
        self._stream.flush()

    @contextlib.contextmanager
    def step(self, name: str, doing: str) -> Generator[Callable[[str], None]]:
        """Print the start and the elapsed time."""
        self.say(f"{name}: {doing}")
        started, ended = time.monotonic(), threading.Event()
        detail = ""

        def change(text: str) -> None:
            nonlocal detail
            detail = text

        def beat() -> None:
            while not ended.wait(self._heartbeat):
                since = duration(time.monotonic() - started)
                self.say(f"{name}: still {doing}, {since}{f' ({detail})' if detail else ''}")

        heart = threading.Thread(target=beat, daemon=True)
        heart.start()
        try:
            yield change
        finally:
            ended.set()
            heart.join()


class LiveProgress:
    """Shows an animated line for each step on a terminal until the step ends."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, line: str) -> None:
        """Print one line."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    @contextlib.contextmanager
    def step(self, name: str, doing: str) -> Generator[Callable[[str], None]]:
        """Show a spinner, the step, a detail and the elapsed time."""
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[detail]}", style="dim", markup=False),
        )
        with LiveDisplay(*columns, console=self._console, transient=True) as display:
            task = display.add_task(f"{name}: {doing}", total=None, detail="")

            def change(text: str) -> None:
                display.update(task, detail=text[:60])

            yield change


def progress_for(stream: IO[str] | None = None) -> ProgressReporter:
    """Return a reporter for a terminal or for a log."""
    where = stream or sys.stderr
    if where.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI"):
        return LiveProgress(Console(file=where))
    return PlainProgress(where)
