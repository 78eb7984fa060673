"""A `pulumi` that holds a lock until it is interrupted, as the real one does in a long step.

Usage: fake_pulumi.py LOCK SECONDS. It counts its interrupts in a file beside the lock. After the
first it works on for so many seconds and releases the lock; after the second it only releases the
lock, and a `stubborn` one does not end at all.
"""

import signal
import sys
import time
from pathlib import Path
from typing import Any

lock, seconds = Path(sys.argv[1]), sys.argv[2]
interrupts: list[int] = []


def count(number: int, _frame: Any) -> None:
    interrupts.append(number)
    lock.with_suffix(".interrupts").write_text(str(len(interrupts)))


signal.signal(signal.SIGINT, count)
lock.touch()
while not interrupts:
    time.sleep(0.01)
end = time.monotonic() + (600 if seconds == "stubborn" else float(seconds))
while time.monotonic() < end and (len(interrupts) < 2 or seconds == "stubborn"):
    time.sleep(0.01)
lock.unlink()
