"""`coder-stack sandbox measure`: how fast a watcher reacts to each breakage, beside its peers.

One watcher runs for all of them, so the figures are those of one run. In coderd it depends on the
moment in the interval when something breaks, so that moment is random.
"""

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.table import Table

from sandbox.breakage import break_it
from sandbox.engine import STACK, Engine
from sandbox.paths import CHECKOUT, SandboxPaths
from sandbox.watcher.process import WatchProcess, watching

Say = Callable[[str], None]
_KUBERNETES = ("image", "replicas", "service", "secret")
_CODERD = ("key", "tags", "license", "proxy", "organization", "token")
_REPAIR_SECONDS = 300.0
_AFTER_REPAIR_SECONDS = 5.0
_DICE = random.Random(1)  # noqa: S311  # the same moments in every run
_NEVER = "never"
_PEERS = {
    "image": ("< 1 s", "next plan"),
    "replicas": ("< 1 s", "next plan"),
    "service": ("< 1 s", "next plan"),
    "secret": (f"{_NEVER}: rolls the pods onto it", "not its job"),
    "key": (_NEVER, _NEVER),
    "tags": (_NEVER, _NEVER),
    "license": (_NEVER, "next plan"),
    "proxy": (_NEVER, "next plan"),
    "organization": ("not its job", "next plan"),
    "token": ("not its job", "next plan fails"),
}
"""When the coder-k8s operator and OpenTofu with coderd's provider notice it, measured in 2026."""


@dataclass(frozen=True)
class Reaction:
    """Seconds from one breakage to each step."""

    breakage: str
    noticed: float
    named: float
    repaired: float


def measure(paths: SandboxPaths, engine: Engine, interval: int, say: Say) -> list[Reaction]:
    """Break one thing after the other, and wait for its repair."""
    options = ("--stack", STACK, "--repair", "--interval", str(interval))
    with watching(options, folder=CHECKOUT, environment=engine.environment(paths)) as watcher:
        watcher.said("checked: clean", seconds=_REPAIR_SECONDS)
        return [_react(paths, watcher, each, interval, say) for each in (*_KUBERNETES, *_CODERD)]


def _react(
    paths: SandboxPaths, watcher: WatchProcess, breakage: str, interval: int, say: Say
) -> Reaction:
    if breakage in _CODERD:
        # After a repair coderd is asked at once; from then on the interval counts.
        time.sleep(_DICE.uniform(_AFTER_REPAIR_SECONDS, interval))
    say(break_it(paths, breakage))
    broken = time.monotonic()
    noticed = watcher.said("noticed: ", seconds=interval + 60).at - broken
    named = watcher.said("named after", seconds=_REPAIR_SECONDS).at - broken
    repaired = watcher.said("repaired after", seconds=_REPAIR_SECONDS).at - broken
    watcher.said("checked: ", seconds=_REPAIR_SECONDS)
    say(f"{breakage}: noticed after {noticed:.1f} s, repaired after {repaired:.1f} s")
    return Reaction(breakage, noticed, named, repaired)


def table(reactions: Iterable[Reaction], interval: int) -> Table:
    """Return the figures beside those of the peers, for 100 columns."""
    found = Table(
        title=f"Seconds after `sandbox break`, interval {interval} s",
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    for name in ("break", "noticed", "named", "repaired"):
        found.add_column(name, no_wrap=True, justify="left" if name == "break" else "right")
    for name in ("coder-k8s notices", "OpenTofu notices"):
        found.add_column(name)
    for each in reactions:
        seconds = (f"{value:.1f}" for value in (each.noticed, each.named, each.repaired))
        found.add_row(each.breakage, *seconds, *_PEERS[each.breakage])
    return found


def late(reactions: Iterable[Reaction], interval: int) -> list[str]:
    """Return the breakages that were noticed later than they must be (N1)."""
    found: list[str] = []
    for each in reactions:
        limit = 2.0 if each.breakage in _KUBERNETES else interval + 2.0
        if each.noticed > limit:
            found.append(each.breakage)
    return found
