"""One watcher and everything that it decides; engine, streams and lists are played (N1).

The clock is the test's: `pass_time` steps as the loop of a watcher does.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from coder_stack.operate.engine.errors import LockedError, LockHolder, OperationError, locked
from coder_stack.operate.watch import engine_look, watcher
from coder_stack.operate.watch.announcements import Announcements
from coder_stack.operate.watch.engine_look import Progress
from coder_stack.operate.watch.facts import Facts
from coder_stack.operate.watch.metrics import WatchMetrics
from coder_stack.operate.watch.transitions import Notice
from coder_stack.operate.watch.watcher import Options, Watcher
from tests.unit.operate.reports import broken, clean, report_of, resource
from tests.unit.operate.watch.recorded import deployment, facts

CODER = deployment()
CHANGED, CHANGED_AGAIN = (replace(CODER, generation=n).expected for n in (2, 3))
FULL_LOOK = 6 * 3600.0
TICK = 0.25
CLEAN = Progress("done", clean("dev"))


@dataclass
class Clock:
    """Stands for the module `time` in watcher.py."""

    now: float = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class State:
    """A recorded state that does not change by itself."""

    stack: str = "dev"
    known: Facts = field(default_factory=lambda: facts(CODER))
    lock: LockedError | None = None
    error: OperationError | None = None
    may_have_changed: bool = False
    has_visibly_changed: bool = False
    reads: int = 0

    class project:  # noqa: N801  # as RecordedState has it
        folder = "/nowhere"

    def read(self, poll: Callable[[], None] | None = None) -> Facts:
        self.reads += 1
        if poll is not None:
            poll()
        if self.error:
            raise self.error
        return self.known


@dataclass
class Streams:
    """What is seen of the cluster."""

    look: str = CODER.expected
    threads: tuple[str, ...] = ("one",)
    settled: bool = True
    unseen: tuple[str, ...] = ()
    has_failed: bool = False

    def follow(self, facts: Facts) -> None:
        assert facts.objects

    def looks(self, _facts: Facts, _now: float) -> dict[str, str]:
        return {CODER.key: self.look}

    def seen(self, *_: Any) -> None:
        return None

    def clusters(self, _facts: Facts) -> dict[str, Any]:
        return {}


class Lists:
    """A stack that needs nothing of coderd."""

    answers, requests, has_failed, asked_before = True, 0, False, None

    def start(self) -> None: ...

    def follow(self, facts: Facts) -> None: ...

    def looks(self, _facts: Facts) -> dict[str, str]:
        return {}


@dataclass
class Told:
    """A notifier."""

    heard: list[str] = field(default_factory=list[str])

    def tell(self, notice: Notice) -> None:
        self.heard.append(notice.transition)


@dataclass
class Watched:
    """A watcher, and what is around it."""

    clock: Clock
    state: State = field(default_factory=State)
    streams: Streams = field(default_factory=Streams)
    notifier: Told = field(default_factory=Told)
    said: list[str] = field(default_factory=list[str])
    answers: list[Sequence[Progress]] = field(default_factory=list[Sequence[Progress]])
    """What the next engine runs say; clean if nothing is given."""
    runs: int = 0
    meanwhile: Callable[[], None] = lambda: None
    """Happens while the engine runs."""
    watcher: Watcher = field(init=False)

    def __post_init__(self) -> None:
        metrics, wake = WatchMetrics("dev"), threading.Event()
        parts: Any = (self.state, self.streams, Lists(), metrics)
        self.watcher = Watcher(
            *parts,
            options=Options(repair=True, full_look_seconds=FULL_LOOK),
            say=self.said.append,
            wake=wake,
            announcements=Announcements("dev", self.said.append, metrics, self.notifier),  # type: ignore[arg-type]
        )
        self.watcher.start(self.state.known)

    def look(self, *_: Any, told: Callable[[Progress], None], poll: Any, **__: Any) -> None:
        """Stand for engine_look.look."""
        self.runs += 1
        self.clock.sleep(10)
        self.meanwhile()
        poll()
        for each in self.answers.pop(0) if self.answers else [CLEAN]:
            told(each)

    def see(self, look: str) -> None:
        """Let a stream deliver something else."""
        self.streams.look = look
        self.watcher.wake.set()

    def pass_time(self, seconds: float, tick: float = TICK) -> None:
        end = self.clock.now + seconds
        while self.clock.now < end:
            self.watcher.step(self.clock.now)
            self.clock.sleep(tick)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """One that has looked at everything once."""
    clock = Clock()
    monkeypatch.setattr(watcher, "time", clock)
    found = Watched(clock)
    monkeypatch.setattr(engine_look, "look", found.look)
    found.pass_time(1)
    assert found.runs == 1
    return found


def test_N1_a_difference_is_checked_within_two_seconds_and_once(watched: Watched) -> None:
    watched.see(CHANGED)
    watched.pass_time(2)
    assert watched.runs == 2
    watched.pass_time(FULL_LOOK / 2, tick=1)
    assert watched.runs == 2


def test_N1_what_changes_during_a_check_is_checked_right_after_it(watched: Watched) -> None:
    def change() -> None:
        watched.meanwhile = lambda: None
        watched.see(CHANGED_AGAIN)

    watched.meanwhile = change
    watched.see(CHANGED)
    watched.pass_time(2)
    assert watched.runs == 2
    watched.pass_time(2)
    assert watched.runs == 3


def test_N1_everything_is_compared_at_its_time(watched: Watched) -> None:
    watched.pass_time(FULL_LOOK - 60, tick=1)
    assert watched.runs == 1
    watched.pass_time(120, tick=1)
    assert watched.runs == 2


def test_N1_after_an_error_the_pauses_grow_and_the_recovery_is_told(watched: Watched) -> None:
    watched.answers = [[Progress("done", broken("dev"))]] * 4
    watched.see(CHANGED)
    watched.pass_time(2)
    for pause in (30, 60, 120):
        before = watched.runs
        watched.pass_time(pause - 10, tick=1)
        assert watched.runs == before
        watched.pass_time(20, tick=1)
        assert watched.runs == before + 1
    watched.pass_time(300, tick=1)
    assert watched.notifier.heard == ["error", "recovered"]
    assert sum(each.startswith("error:") for each in watched.said) == 1


def test_N1_a_state_that_cannot_be_read_is_told_once_and_read_again(watched: Watched) -> None:
    watched.state.may_have_changed = True
    watched.state.error = OperationError("The backend cannot be read.")
    watched.see(CHANGED)
    watched.pass_time(1200, tick=1)
    assert watched.runs == 1
    assert 5 <= watched.state.reads <= 10
    assert 'result="error",stack="dev"} 1.0' in watched.watcher.metrics_text().decode()
    watched.state.error = None
    watched.pass_time(301, tick=1)
    assert watched.runs == 2
    assert watched.notifier.heard == ["error", "recovered"]


def test_N1_a_backend_that_takes_its_time_is_no_stuck_watcher(watched: Watched) -> None:
    read = watched.state.read

    def slowly(poll: Callable[[], None] | None = None) -> Facts:
        for _ in range(12):
            watched.clock.sleep(10)
            assert poll is not None
            poll()
            assert watched.watcher.why_not_healthy == ""
        return read()

    watched.state.may_have_changed = True
    watched.state.read = slowly  # type: ignore[method-assign]
    watched.see(CHANGED)
    watched.pass_time(2)
    assert watched.state.reads == 1


def test_N1_a_lock_that_people_were_told_of_ends_with_a_check(watched: Watched) -> None:
    """Also if the update that held it has recorded all that looked different."""
    watched.state.lock = locked(LockHolder("ann@laptop", "42", "2020-01-01T00:00:00Z"))
    watched.see(CHANGED)
    watched.pass_time(60, tick=1)
    assert (watched.runs, watched.notifier.heard) == (1, ["error"])
    watched.state.lock = None
    watched.see(CODER.expected)
    watched.pass_time(60, tick=1)
    assert (watched.runs, watched.notifier.heard) == (2, ["error", "recovered"])


def test_N1_a_lock_that_nobody_was_told_of_ends_without_a_check(watched: Watched) -> None:
    watched.state.lock = locked()
    watched.see(CHANGED)
    watched.pass_time(60, tick=1)
    watched.state.lock = None
    watched.see(CODER.expected)
    watched.pass_time(60, tick=1)
    assert watched.runs == 1


def test_N1_another_update_during_a_check_is_waited_for_with_pauses(watched: Watched) -> None:
    watched.answers = [[Progress("locked", locked=locked())]] * 3
    watched.see(CHANGED)
    watched.pass_time(60)
    assert watched.runs == 1 + 4
    assert sum(each.startswith("waiting:") for each in watched.said) == 1


def test_N2_what_was_found_and_repaired_is_told_in_this_order(watched: Watched) -> None:
    drift = report_of("dev", result="drift", resources=(resource("coder"),))
    repaired = clean("dev", repairs=(resource("coder"),), repaired=True)
    watched.answers = [[Progress("found", drift), Progress("done", repaired)]]
    watched.see(CHANGED)
    watched.pass_time(2)
    assert watched.notifier.heard == ["drift", "repaired"]
