"""The watcher: observe, let the engine judge what looks different, tell what came of it (N1-N3).

Everything that decides runs in the main thread: streams and polls only leave behind what they saw.
While an engine run lasts, `observe` is called from it several times a second.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from coder_stack.counting import counted
from coder_stack.operate.engine import process
from coder_stack.operate.engine.errors import LockedError, OperationError, locked
from coder_stack.operate.fleet import failed_report
from coder_stack.operate.report.model import Report
from coder_stack.operate.watch import engine_look
from coder_stack.operate.watch.announcements import Announcements
from coder_stack.operate.watch.coderd_lists import CoderdLists
from coder_stack.operate.watch.engine_look import Progress
from coder_stack.operate.watch.facts import ABSENT, ANSWERS, REFUSED, SILENT, Facts
from coder_stack.operate.watch.kubernetes_watch import KubernetesWatch
from coder_stack.operate.watch.lock_wait import LockWait
from coder_stack.operate.watch.metrics import WatchMetrics, timestamp
from coder_stack.operate.watch.object_events import ObjectEvents
from coder_stack.operate.watch.recorded_state import RecordedState
from coder_stack.operate.watch.suspicion import Suspicion, Suspicions

_TICK_SECONDS, _SUSPICIOUS_TICK_SECONDS = 1.0, 0.25
_FIRST_LISTS_SECONDS = 15.0
"""How long to wait for the first lists before the first check."""
_FIRST_LISTS_POLL_SECONDS = 0.1
_UNCHANGED_SECONDS = 15.0
"""How often to compare if nothing new was seen: somebody may have fallen silent."""
_FIRST_ERROR_PAUSE, _LONGEST_ERROR_PAUSE = 30.0, 1800.0
_LONGEST_READ_PAUSE = 300.0
"""Reading the state costs little, and nothing else tells that a backend is back."""
_FIRST_LOCK_PAUSE, _LONGEST_LOCK_PAUSE = 2.0, 60.0
_STUCK_SECONDS = 60.0

_WORDS = {ABSENT: "is gone", ANSWERS: "answers again"} | {each: each for each in (SILENT, REFUSED)}


@dataclass(frozen=True)
class Options:
    """What the command line and the config ask for."""

    repair: bool
    full_look_seconds: float


@dataclass
class Watcher:
    """One stack, and everything that is known about it."""

    state: RecordedState
    kubernetes: KubernetesWatch
    coderd: CoderdLists
    metrics: WatchMetrics
    options: Options
    say: Callable[[str], None]
    wake: threading.Event
    announcements: Announcements
    still_alone: Callable[[], None] = lambda: None
    """Raises OperationError once another watcher has taken over."""
    suspicions: Suspicions = field(default_factory=Suspicions)
    _facts: Facts = field(default_factory=lambda: Facts(""))
    _noticed: set[Suspicion] = field(default_factory=set[Suspicion])
    _next_full: float = 0.0
    _error_pause: float = _FIRST_ERROR_PAUSE
    _lock_pause: float = _FIRST_LOCK_PAUSE
    _not_before: float = 0.0
    _lock_wait: LockWait = field(init=False)
    _last_error: str | None = None
    _requests: int = 0
    _alive_at: float = field(default_factory=time.monotonic)
    _observed_at: float = 0.0
    _checked: bool = False

    def __post_init__(self) -> None:
        self._lock_wait = LockWait(self.say)

    def start(self, facts: Facts) -> None:
        """Begin to observe, and wait a moment for the first lists."""
        self.metrics.started_at.set(timestamp())
        self._record(facts)
        self.coderd.start()
        end = time.monotonic() + _FIRST_LISTS_SECONDS
        while time.monotonic() < end and not (
            self.kubernetes.settled and (self.coderd.answers or not facts.lists)
        ):
            process.raise_if_interrupted()
            time.sleep(_FIRST_LISTS_POLL_SECONDS)
        streams = counted(len(self.kubernetes.threads), "stream")
        self.say(f"watching {counted(len(facts.objects), 'object')} with {streams}")

    def run(self) -> None:
        """Watch until a signal comes: then raise Interrupted, with Pulumi ended and no lock."""
        while True:
            process.raise_if_interrupted()
            self.still_alone()
            self.step(time.monotonic())
            self.wake.wait(_SUSPICIOUS_TICK_SECONDS if self.suspicions.open else _TICK_SECONDS)

    def step(self, now: float) -> None:
        """Observe, and check if there is a reason to."""
        self.observe()
        if now < self._not_before:
            return
        reasons = self.suspicions.due(now)
        is_full = now >= self._next_full
        if not (reasons or is_full):
            self._calm(now)
            return
        if lock := self.state.lock:
            # An update of ours is no suspicion: what it leaves behind is compared then.
            self._wait_for(lock)
            return
        try:
            if self.state.may_have_changed:
                self._record(self.state.read(self._is_alive))
                self.observe()
                reasons = self.suspicions.due(now)
        except OperationError as error:
            self._failed(error, now)
            return
        self._notice(reasons)
        if reasons or is_full:
            self._check(reasons, now)

    def observe(self) -> None:
        """Compare what was seen last with what is known; cheap, and called often."""
        now = self._alive_at = time.monotonic()
        if not self.wake.is_set() and now - self._observed_at < _UNCHANGED_SECONDS:
            return
        self.wake.clear()
        self._observed_at = now
        looks = {**self.kubernetes.looks(self._facts, now), **self.coderd.looks(self._facts)}
        self.suspicions.observe(looks, now)
        self.metrics.pending.set(len(self.suspicions.open))
        self.metrics.coderd_requests.inc(self.coderd.requests - self._requests)
        self._requests = self.coderd.requests
        self.metrics.coderd_up.set(self.coderd.answers)
        self.metrics.streams_down.set(len(self.kubernetes.unseen))

    @property
    def why_not_healthy(self) -> str:
        """Say why the process should be started again; empty if it should not."""
        silent = time.monotonic() - self._alive_at
        if silent > _STUCK_SECONDS:
            return f"The watcher has been stuck for {silent:.0f} s."
        blind = self.coderd.has_failed or self.kubernetes.has_failed
        return "Part of the watcher has failed; its log has the error." if blind else ""

    @property
    def why_not_ready(self) -> str:
        """Say why nothing can be noticed yet; empty if it can."""
        return "" if self._checked else "The first check has not ended yet."

    def metrics_text(self) -> bytes:
        """Return all metrics."""
        return self.metrics.text(datetime.now(UTC))

    def _is_alive(self) -> None:
        """Note that the watcher waits for an answer, so it is not stuck."""
        self._alive_at = time.monotonic()

    def _wait_for(self, lock: LockedError) -> None:
        """Say what is waited for; tell people of a lock that does not end by itself."""
        if self._lock_wait.must_tell(lock, datetime.now(UTC)):
            report = failed_report(self.state.stack, lock)
            self.announcements.failed(report)
            self.announcements.say_error(report)

    def _record(self, facts: Facts) -> None:
        """Take in a state that was read, unless it is the one that is known."""
        if facts.version == self._facts.version:
            return
        self._facts = facts
        self.wake.set()
        self.suspicions.record(facts)
        self.kubernetes.follow(facts)
        self.coderd.follow(facts)

    def _calm(self, now: float) -> None:
        waited = self._lock_wait.is_waiting
        if (waited or self.state.has_visibly_changed) and self.state.lock is None:
            if waited and self._lock_wait.over():
                # People were told of the lock, so they are told that the stack is well.
                self._next_full = now
            self._record_own_update(now)
        self.announcements.calm(self._facts.license)

    def _notice(self, reasons: Sequence[Suspicion]) -> None:
        """Count and log each suspicion once."""
        self._noticed &= set(self.suspicions.open)
        for each in reasons:
            if each in self._noticed:
                continue
            self._noticed.add(each)
            source, seconds = self._unnoticed(each)
            self.metrics.noticed(source, seconds)
            look = self.suspicions.seen.get(each.key, "")
            self.say(f"noticed: {each.label} {_WORDS.get(look, 'looks different')}")

    def _unnoticed(self, suspicion: Suspicion) -> tuple[str, float]:
        """Return where it was noticed, and how long it can have gone unnoticed."""
        fact = next((each for each in self._facts.objects if each.key == suspicion.key), None)
        if fact is None:
            since = self.coderd.asked_before
            return "coderd", suspicion.since - since if since else 0.0
        seen = self.kubernetes.seen((fact.cluster, fact.collection), fact.name)
        if seen is None or seen.changed_at is None:
            return "kubernetes", 0.0
        age = (datetime.now(UTC) - seen.changed_at).total_seconds()
        return "kubernetes", age - (time.monotonic() - suspicion.since)

    def _check(self, reasons: Sequence[Suspicion], now: float) -> None:
        looks = self.suspicions.judging()
        steps: list[Progress] = []

        def told(step: Progress) -> None:
            steps.append(step)
            if step.report is not None and (step.word == "found" or not self.options.repair):
                self.announcements.found(step.report, time.monotonic() - now, self._events)

        try:
            engine_look.look(
                self.state.project.folder,
                self.state.stack,
                repair=self.options.repair,
                told=told,
                poll=self.observe,
            )
            last = steps[-1] if steps else Progress("locked")
        except OperationError as error:
            last = Progress("done", failed_report(self.state.stack, error))
        if last.report is None:
            self._wait_for(last.locked or locked())
            self._not_before = time.monotonic() + self._lock_pause
            self._lock_pause = min(self._lock_pause * 2, _LONGEST_LOCK_PAUSE)
            return
        self._checked = True
        self._lock_pause = _FIRST_LOCK_PAUSE
        self._lock_wait.over()
        report = last.report
        self.suspicions.judged(looks, {each.urn for each in report.repairs}, reasons, now)
        # What has changed since the check began was observed, and is a suspicion anew.
        self.wake.set()
        ended = time.monotonic()
        self.announcements.ended(report, ended - now, was_suspected=bool(reasons))
        if report.result == "error":
            self._pause_after(report, ended)
        else:
            self._last_error, self._error_pause = None, _FIRST_ERROR_PAUSE
            self._next_full = ended + self.options.full_look_seconds
        self._record_own_update(ended)
        self.announcements.checked(report, self._events)

    @property
    def _events(self) -> ObjectEvents:
        return ObjectEvents(self._facts, self.kubernetes.clusters(self._facts))

    def _record_own_update(self, now: float) -> None:
        """Read the state that a repair has written, so that it is no suspicion."""
        if self.state.has_visibly_changed:
            try:
                self._record(self.state.read(self._is_alive))
            except OperationError as error:
                self._failed(error, now)

    def _failed(self, error: OperationError, now: float) -> None:
        """Count and tell that not even the recorded state can be read."""
        report = failed_report(self.state.stack, error)
        self.announcements.failed(report)
        self._pause_after(report, now)
        self._next_full = min(self._next_full, now + _LONGEST_READ_PAUSE)
        self._not_before = self._next_full

    def _pause_after(self, report: Report, now: float) -> None:
        """Check everything again after a pause, which grows while the error stays."""
        if report.error != self._last_error:
            self.announcements.say_error(report)
        self._last_error = report.error
        self._next_full = now + self._error_pause
        self._error_pause = min(self._error_pause * 2, _LONGEST_ERROR_PAUSE)
