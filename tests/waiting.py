"""Waiting for something that happens outside of the test."""

import time
from collections.abc import Callable


def eventually(happens: Callable[[], object], seconds: float = 20) -> bool:
    """Ask every 20 ms until the answer is true or the time is up; return whether it became true."""
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
