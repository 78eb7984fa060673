"""What is seen while tools are fetched: a live line on a terminal, plain lines in a log.

Everything goes to stderr, so that commands keep stdout for their answers. Nothing is printed where
nothing is done.
"""

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
    """A duration as people say it: 7 s, 2 min 05 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"


class Progress(Protocol):
    """Where the work reports to."""

    def say(self, line: str) -> None:
        """Print one line that stays."""
        ...

    def step(
        self, name: str, doing: str
    ) -> contextlib.AbstractContextManager[Callable[[str], None]]:
        """Show what is being done until the block ends; the function given changes the detail."""
        ...


class PlainProgress:
    """Lines for a log: a step's start, then a heartbeat with the elapsed time."""

    def __init__(self, stream: IO[str], *, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        self._stream = stream
        self._heartbeat = heartbeat_seconds

    def say(self, line: str) -> None:
        """Print one line."""
        self._stream.write(line + "\n")
        self._stream.flush()

    @contextlib.contextmanager
    def step(self, name: str, doing: str) -> Generator[Callable[[str], None]]:
        """Print the start and the heartbeats."""
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
    """One moving line a step on a terminal; it disappears when the step ends."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, line: str) -> None:
        """Print one line."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    @contextlib.contextmanager
    def step(self, name: str, doing: str) -> Generator[Callable[[str], None]]:
        """Show a spinner, what is done, a detail and the elapsed time."""
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


def progress_for(stream: IO[str] | None = None) -> Progress:
    """The right kind for where stderr goes."""
    where = stream or sys.stderr
    if where.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI"):
        return LiveProgress(Console(file=where))
    return PlainProgress(where)
