"""`coder-stack sandbox soak`: an hour of random breakages, each of which must be repaired.

The seed decides order and pauses. One watcher repairs most of the time, so that it shows whether
its memory grows. After that each watcher is killed or stopped, and the next one finds what broke
meanwhile. At the end the stack must be clean, with as much in coderd and in the state as before.
"""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from sandbox.breakage import Clients, break_it
from sandbox.engine import STACK, Engine
from sandbox.errors import SandboxError
from sandbox.paths import CHECKOUT, SandboxPaths
from sandbox.watcher.process import WatchProcess, watching

Say = Callable[[str], None]
_BREAKAGES = (
    # In coderd first: Kubernetes' are noticed at once, and the check that follows sees all.
    *("tags", "key", "license", "proxy", "organization", "token"),
    *("image", "replicas", "service", "secret"),
)
_AT_ONCE = (1, 1, 2, 3)
_INTERVAL = 10
_LONGEST_PAUSE = 60.0
_REPAIR_SECONDS = 900.0
"""What is broken again and again is repaired after a pause; see docs/watch.md."""
_FIRST_WATCHER = 0.75
"""Its part of the time."""
_MOST_GROWTH = 20e6


@dataclass
class Soak:
    """What has happened so far."""

    broken: int = 0
    slowest: float = 0.0
    watchers: int = 0
    memory: list[int] = field(default_factory=list[int])
    """Of the first watcher, after each repair."""

    def repaired(self, count: int, seconds: float) -> None:
        """Count what was broken at once and repaired."""
        self.broken += count
        self.slowest = max(self.slowest, seconds)

    def summary(self) -> str:
        """Sum it up in one sentence."""
        first, last = self.memory[0] / 1e6, self.memory[-1] / 1e6
        return (
            f"{self.broken} breakages, all repaired, the slowest after {self.slowest:.0f} s; "
            f"nothing lost; {self.watchers} watchers; "
            f"memory {first:.0f} MB at the start, {last:.0f} MB at the end"
        )

    def raise_if_grown(self) -> None:
        """Raise SandboxError if the first watcher needs more memory than after its first check."""
        if self.memory[-1] - self.memory[0] > _MOST_GROWTH:
            raise SandboxError(f"the watcher has grown: {self.summary()}")


def soak(paths: SandboxPaths, engine: Engine, minutes: float, seed: int, say: Say) -> Soak:
    """Break and wait until the time is up; raise SandboxError if anything stays broken."""
    dice, found = random.Random(seed), Soak()  # noqa: S311  # the same order for the same seed
    begin = time.monotonic()
    first_end, end = (begin + minutes * 60 * part for part in (_FIRST_WATCHER, 1.0))
    before = _inventory(paths, engine)
    with _watcher(paths, engine, found) as watcher:
        watcher.said("checked: clean", seconds=_REPAIR_SECONDS)
        found.memory.append(int(watcher.usage()[1]))
        while time.monotonic() < first_end:
            chosen = _break(paths, dice, say)
            broken = time.monotonic()
            watcher.said("repaired after", seconds=_REPAIR_SECONDS)
            watcher.said("checked: clean", seconds=_REPAIR_SECONDS)
            found.repaired(chosen, time.monotonic() - broken)
            if chosen > 1:
                _settle(watcher)
            found.memory.append(int(watcher.usage()[1]))
            time.sleep(dice.uniform(1, _LONGEST_PAUSE))
    while time.monotonic() < end:
        chosen = _break(paths, dice, say)
        broken = time.monotonic()
        with _watcher(paths, engine, found) as watcher:
            watcher.said("repaired after", seconds=_REPAIR_SECONDS)
            watcher.said("checked: clean", seconds=_REPAIR_SECONDS)
            found.repaired(chosen, time.monotonic() - broken)
            if dice.choice((True, False)):
                say("the watcher is killed")
                watcher.process.kill()
    compare(before, _inventory(paths, engine))
    found.raise_if_grown()
    return found


@contextmanager
def _watcher(paths: SandboxPaths, engine: Engine, found: Soak) -> Generator[WatchProcess]:
    options = ("--stack", STACK, "--repair", "--interval", str(_INTERVAL))
    found.watchers += 1
    with watching(options, folder=CHECKOUT, environment=engine.environment(paths)) as watcher:
        yield watcher
        if watcher.count("error:"):
            raise SandboxError(f"the watcher had errors:\n{watcher.text}")


def _break(paths: SandboxPaths, dice: random.Random, say: Say) -> int:
    """Break something; return how many things at once."""
    chosen = set(dice.sample(_BREAKAGES, dice.choice(_AT_ONCE)))
    for each in _BREAKAGES:
        if each in chosen:
            say(break_it(paths, each))
    return len(chosen)


def _settle(watcher: WatchProcess) -> None:
    """Wait out a second check, for what coderd's next list shows."""
    while watcher.says("noticed: ", seconds=_INTERVAL + 3):
        watcher.said("checked: clean", seconds=_REPAIR_SECONDS)


def _inventory(paths: SandboxPaths, engine: Engine) -> dict[str, int]:
    """Count what the stack has; raise SandboxError unless it is clean."""

    def run(*command: str) -> str:
        environment = engine.environment(paths)
        done = subprocess.run(
            command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SandboxError(f"`{' '.join(command)}` failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    run(sys.executable, "-m", "coder_stack.cli", "drift", "--stack", STACK)
    exported = json.loads(run(str(engine.pulumi.path), "stack", "export", "--stack", STACK))
    with ExitStack() as stack:
        kept = Clients(paths, stack).counts()
    return {**kept, "resources in the state": len(exported["deployment"]["resources"])}


def compare(before: dict[str, int], after: dict[str, int]) -> None:
    """Raise SandboxError if there is less or more than before."""
    if differing := [
        f"{name}: {before[name]} before, {after[name]} after"
        for name in before
        if before[name] != after[name]
    ]:
        raise SandboxError(f"not as before the soak: {'; '.join(differing)}")
