"""`coder-stack sandbox soak`: an hour of random breakages, each of which must be repaired.

The seed decides the order and the pauses. At the end the stack must be clean, and the watcher must
not have grown.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.breakage import break_it
from sandbox.engine import STACK, Engine
from sandbox.errors import SandboxError
from sandbox.paths import CHECKOUT, SandboxPaths
from sandbox.watcher.process import watching

Say = Callable[[str], None]
_BREAKAGES = (
    *("image", "replicas", "service", "secret", "key"),
    *("tags", "license", "proxy", "organization", "token"),
)
_LONGEST_PAUSE = 60.0
_REPAIR_SECONDS = 900.0
"""What is broken again and again is repaired after a pause; see docs/watch.md."""


@dataclass
class Soak:
    """What has happened so far."""

    broken: int = 0
    slowest: float = 0.0
    memory: list[int] = field(default_factory=list[int])

    def summary(self) -> str:
        """Sum it up in one sentence."""
        first, last = self.memory[0] / 1e6, self.memory[-1] / 1e6
        return (
            f"{self.broken} breakages, all repaired, the slowest after {self.slowest:.0f} s; "
            f"memory {first:.0f} MB at the start, {last:.0f} MB at the end"
        )


def soak(paths: SandboxPaths, engine: Engine, minutes: float, seed: int, say: Say) -> Soak:
    """Break and wait until the time is up; raise SandboxError if anything stays broken."""
    dice, found = random.Random(seed), Soak()  # noqa: S311  # the same order for the same seed
    end = time.monotonic() + minutes * 60
    options = ("--stack", STACK, "--repair", "--interval", "10")
    with watching(options, folder=CHECKOUT, environment=engine.environment(paths)) as watcher:
        watcher.said("checked: clean", seconds=_REPAIR_SECONDS)
        found.memory.append(int(watcher.usage()[1]))
        while time.monotonic() < end:
            say(break_it(paths, dice.choice(_BREAKAGES)))
            broken = time.monotonic()
            watcher.said("checked: clean", seconds=_REPAIR_SECONDS)
            found.broken += 1
            found.slowest = max(found.slowest, time.monotonic() - broken)
            found.memory.append(int(watcher.usage()[1]))
            time.sleep(dice.uniform(1, _LONGEST_PAUSE))
        if watcher.count("error:"):
            raise SandboxError(f"the watcher had errors:\n{watcher.text}")
    return found
