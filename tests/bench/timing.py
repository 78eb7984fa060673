"""How a bench takes time: the middle of a few rounds, after one to warm up."""

import statistics
import time
from collections.abc import Callable

_ROUNDS = 5


def seconds(work: Callable[[], object]) -> float:
    work()
    times: list[float] = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
