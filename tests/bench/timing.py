"""How a bench compares: turn about, so that a change of the machine's mood counts for both."""

import statistics
import time
from collections.abc import Callable

_ROUNDS = 5


def ratio(
    work: Callable[[], object], reference: Callable[[], object], rounds: int = _ROUNDS
) -> float:
    """The middle one of a few pairs, after one to warm up."""
    work()
    reference()
    return statistics.median(seconds(work) / seconds(reference) for _ in range(rounds))


def seconds(work: Callable[[], object]) -> float:
    """Run it, and return how long it took."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
