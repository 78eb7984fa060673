"""Deliver notices in order, from a thread of its own, with growing pauses after failures (N2).

A webhook that fails never holds up a repair. What it does not take within an hour is given up, with
a line in the log.
"""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from coder_stack.operate.watch.transitions import Notice
from coder_stack.operate.watch.webhook import NotTakenError, Webhook

_MOST_WAITING = 100
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 300.0
_GIVE_UP_SECONDS = 3600.0


@dataclass
class Notifier:
    """A queue in front of one webhook."""

    webhook: Webhook
    say: Callable[[str], None]
    counted: Callable[[bool], None]
    """Called after each attempt, with whether it succeeded."""
    first_pause: float = _FIRST_PAUSE
    _waiting: queue.Queue[Notice] = field(default_factory=lambda: queue.Queue(_MOST_WAITING))
    _ended: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin to deliver."""
        threading.Thread(target=self._run, name="notices", daemon=True).start()

    def tell(self, notice: Notice) -> None:
        """Take in a notice without waiting for the webhook."""
        try:
            self._waiting.put_nowait(notice)
        except queue.Full:
            self.say(f"notice given up, as too many wait: {notice.transition}")

    def flush(self, seconds: float) -> None:
        """Wait for what is waiting, but not longer than that: the process ends."""
        end = time.monotonic() + seconds
        while self._waiting.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.05)

    def _run(self) -> None:
        while True:
            notice = self._waiting.get()
            self._deliver(notice)
            self._waiting.task_done()

    def _deliver(self, notice: Notice) -> None:
        pause, end = self.first_pause, time.monotonic() + _GIVE_UP_SECONDS
        while True:
            try:
                self.webhook.post(notice)
            except NotTakenError as error:
                self.counted(False)
                if time.monotonic() + pause > end:
                    self.say(f"notice given up: {notice.transition}. {error}")
                    return
                self.say(f"notice not delivered, trying again in {pause:.0f} s. {error}")
                self._ended.wait(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
            else:
                self.counted(True)
                return
