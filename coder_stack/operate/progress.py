"""Progress of each stack on stderr while the engine runs (F6).

On a terminal a live line for each stack; in a log a line at the start and the end of a stack, at
each phase, and at most every ten seconds between. engine/activity.py finds out what to show.
"""

import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Protocol

from rich.console import Console
from rich.progress import Progress as LiveDisplay
from rich.progress import SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

_INTERVAL_SECONDS = 10.0


class Progress(Protocol):
    """Where the progress of stacks is shown; called by several threads."""

    def say(self, line: str) -> None:
        """Print a permanent line."""
        ...

    def start(self, stack: str) -> None:
        """Begin with a stack."""
        ...

    def show(self, stack: str, phase: str, detail: str) -> None:
        """Show what the engine does with a stack; called several times a second."""
        ...

    def end(self, stack: str, result: str) -> None:
        """End with a stack."""
        ...


@dataclass
class _Shown:
    started: float = field(default_factory=time.monotonic)
    phase: str = ""
    at: float = 0.0

    @property
    def seconds(self) -> str:
        return f"{time.monotonic() - self.started:.0f} s"


class PlainProgress:
    """Lines for a log."""

    def __init__(self, stream: IO[str], interval: float = _INTERVAL_SECONDS) -> None:
        self._stream, self._interval = stream, interval
        self._stacks: dict[str, _Shown] = {}
        self._lock = threading.Lock()

    def say(self, line: str) -> None:
        """Print one line."""
        self._stream.write(f"==> {line}\n")
        self._stream.flush()

    def start(self, stack: str) -> None:
        """Print that the stack has started."""
        with self._lock:
            self._stacks[stack] = _Shown()
            self.say(f"{stack}: started")

    def show(self, stack: str, phase: str, detail: str) -> None:
        """Print a new phase at once, and the same one again after the interval."""
        with self._lock:
            shown, now = self._stacks[stack], time.monotonic()
            if phase != shown.phase:
                self.say(f"{stack}: {phase}")
            elif now - shown.at >= self._interval:
                self.say(f"{stack}: {phase}, {detail} ({shown.seconds})")
            else:
                return
            shown.phase, shown.at = phase, now

    def end(self, stack: str, result: str) -> None:
        """Print the result and the elapsed time."""
        with self._lock:
            self.say(f"{stack}: {result} after {self._stacks[stack].seconds}")


class LiveProgress:
    """A line for each stack that is updated in place until the stack ends."""

    def __init__(self, display: LiveDisplay) -> None:
        self._display = display
        self._tasks: dict[str, tuple[TaskID, _Shown]] = {}

    def say(self, line: str) -> None:
        """Print one line above the live ones."""
        self._display.console.print(f"==> {line}", markup=False, highlight=False, soft_wrap=True)

    def start(self, stack: str) -> None:
        """Add the stack's line."""
        self._tasks[stack] = (self._display.add_task(f"{stack}: started", total=None), _Shown())

    def show(self, stack: str, phase: str, detail: str) -> None:
        """Update the stack's line."""
        self._display.update(self._tasks[stack][0], description=f"{stack}: {phase}, {detail}")

    def end(self, stack: str, result: str) -> None:
        """Replace the stack's line with its result and the elapsed time."""
        task, shown = self._tasks.pop(stack)
        self._display.remove_task(task)
        self._display.refresh()  # else the next line is printed above the removed one
        self.say(f"{stack}: {result} after {shown.seconds}")


@contextmanager
def progress_on(stream: IO[str]) -> Generator[Progress]:
    """Show progress on a terminal or in a log until the block ends."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb" or os.environ.get("CI"):
        yield PlainProgress(stream)
        return
    one_line = Column(no_wrap=True, overflow="ellipsis")
    text = TextColumn("{task.description}", markup=False, table_column=one_line)
    columns = (SpinnerColumn(), text, TimeElapsedColumn())
    with LiveDisplay(*columns, console=Console(file=stream), transient=True) as display:
        yield LiveProgress(display)
