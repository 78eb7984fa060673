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
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.fleet import failed_report
from coder_stack.operate.report.model import Report
from coder_stack.operate.report.summary import drifted
from coder_stack.operate.watch import engine_look
from coder_stack.operate.watch.coderd_lists import CoderdLists
from coder_stack.operate.watch.engine_look import Progress
from coder_stack.operate.watch.facts import ABSENT, ANSWERS, REFUSED, SILENT, Facts
from coder_stack.operate.watch.kubernetes_watch import KubernetesWatch
from coder_stack.operate.watch.metrics import WatchMetrics, timestamp
from coder_stack.operate.watch.notifier import Notifier
from coder_stack.operate.watch.object_events import ObjectEvents
from coder_stack.operate.watch.recorded_state import RecordedState
from coder_stack.operate.watch.suspicion import Suspicion, Suspicions
from coder_stack.operate.watch.transitions import Notice, Told

_TICK_SECONDS = 1.0
_FIRST_LISTS_SECONDS = 15.0
"""How long to wait for the first lists before the first check."""
_FIRST_LISTS_POLL_SECONDS = 0.1
_UNCHANGED_SECONDS = 15.0
"""How often to compare if nothing new was seen: somebody may have fallen silent."""
_FIRST_ERROR_PAUSE, _LONGEST_ERROR_PAUSE = 30.0, 1800.0
_FIRST_LOCK_PAUSE, _LONGEST_LOCK_PAUSE = 2.0, 60.0
_LONG_LOCK_SECONDS = 3600.0
"""An update takes minutes: such a lock was left behind."""
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
    notifier: Notifier | None = None
    still_alone: Callable[[], None] = lambda: None
    """Raises OperationError once another watcher has taken over."""
    suspicions: Suspicions = field(default_factory=Suspicions)
    _told: Told = field(default_factory=Told)
    _facts: Facts = field(default_factory=lambda: Facts(""))
    _noticed: set[Suspicion] = field(default_factory=set[Suspicion])
    _next_full: float = 0.0
    _error_pause: float = _FIRST_ERROR_PAUSE
    _lock_pause: float = _FIRST_LOCK_PAUSE
    _not_before: float = 0.0
    _locked_since: float = 0.0
    _last_error: str = ""
    _requests: int = 0
    _alive_at: float = field(default_factory=time.monotonic)
    _observed_at: float = 0.0
    _checked: bool = False

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
        count = counted(len(self.kubernetes.threads), "watch").replace("watchs", "watches")
        self.say(f"watching {counted(len(facts.objects), 'object')} with {count}")

    def run(self) -> None:
        """Watch until a signal comes: then raise Interrupted, with Pulumi ended and no lock."""
        while True:
            process.raise_if_interrupted()
            self.still_alone()
            self.step(time.monotonic())
            self.wake.wait(_TICK_SECONDS)

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
        if self._is_locked(now):
            return  # an update of ours is no suspicion: what it leaves behind is compared then
        try:
            if self.state.may_have_changed:
                self._record(self.state.read())
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
        return f"The watcher has been stuck for {silent:.0f} s." if silent > _STUCK_SECONDS else ""

    @property
    def why_not_ready(self) -> str:
        """Say why nothing can be noticed yet; empty if it can."""
        return "" if self._checked else "The first check has not ended yet."

    def metrics_text(self) -> bytes:
        """Return all metrics."""
        return self.metrics.text(datetime.now(UTC))

    def _is_locked(self, now: float) -> bool:
        """Tell whether an update runs; tell people of a lock that stays too long."""
        locked = self.state.lock
        if locked is None:
            self._locked_since = 0.0
            return False
        self._locked_since = self._locked_since or now
        if now - self._locked_since > _LONG_LOCK_SECONDS:
            self._failed(locked, now)
        return True

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
        if self.state.has_visibly_changed and self.state.lock is None:
            self._record_own_update(now)
        self._tell(self._told.calm(self.state.stack, now))
        self._tell(self._told.license(self.state.stack, self._facts.license, datetime.now(UTC)))

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
            if step.word == "found" and step.report is not None:
                self._found(step.report, time.monotonic() - now)

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
        self._checked = True
        if last.report is None:
            self._not_before = time.monotonic() + self._lock_pause
            self._lock_pause = min(self._lock_pause * 2, _LONGEST_LOCK_PAUSE)
            return
        self._lock_pause = _FIRST_LOCK_PAUSE
        repaired = {each.urn for each in last.report.repairs}
        self.suspicions.judged(looks, repaired, reasons, now)
        self._ended(last.report, bool(reasons), time.monotonic() - now)
        self._record_own_update(now)
        left = f", {counted(len(drifted(last.report)), 'resource')} left as found"
        self.say(f"checked: {last.report.result}{left if last.report.result == 'drift' else ''}")

    def _record_own_update(self, now: float) -> None:
        """Read the state that a repair has written, so that it is no suspicion."""
        if self.state.has_visibly_changed:
            try:
                self._record(self.state.read())
            except OperationError as error:
                self._failed(error, now)

    def _found(self, report: Report, seconds: float) -> None:
        """Tell what the first check found, before it is repaired."""
        if report.result == "clean":
            return
        causes = " ".join(dict.fromkeys(each.cause for each in drifted(report)))
        self.say(f"named after {seconds:.1f} s: {causes or report.error}")
        self._tell(self._told.found(report, time.monotonic()))
        ObjectEvents(self._facts, self.kubernetes.clusters(self._facts)).write(
            drifted(report), "DriftFound"
        )

    def _ended(self, report: Report, was_suspected: bool, seconds: float) -> None:
        if not self.options.repair:
            self._found(report, seconds)
        now = time.monotonic()
        self.metrics.report = report
        self.metrics.look_seconds.observe(seconds)
        self.metrics.looks[report.result].inc()
        self.metrics.confirmed.inc(len({e.urn for e in (*drifted(report), *report.repairs)}))
        self.metrics.repaired.inc(len(report.repairs))
        self.metrics.refused.inc(report.refused is not None)
        self._tell(self._told.ended(report, now))
        events = ObjectEvents(self._facts, self.kubernetes.clusters(self._facts))
        events.write(report.repairs, "DriftRepaired")
        if report.result == "error":
            self._pause_after(report.error or "", now)
            return
        self._last_error, self._error_pause = "", _FIRST_ERROR_PAUSE
        self._next_full = now + self.options.full_look_seconds
        self.metrics.last_look.set(timestamp())
        if report.repairs:
            names = ", ".join(each.name for each in report.repairs)
            self.say(f"repaired after {seconds:.1f} s: {names}")
        elif report.result == "clean" and was_suspected:
            self.metrics.unconfirmed.inc()
            self.say("not confirmed: the engine found no drift")
        if report.refused:
            self.say(f"refused: {report.refused}")

    def _failed(self, error: OperationError, now: float) -> None:
        """Count and tell that not even the recorded state can be read."""
        report = failed_report(self.state.stack, error)
        self.metrics.looks["error"].inc()
        self._tell(self._told.ended(report, now))
        self._pause_after(str(error), now)
        self._not_before = self._next_full

    def _pause_after(self, error: str, now: float) -> None:
        """Check everything again after a pause, which grows while the error stays."""
        if error != self._last_error:
            self.say(f"error: {error}")
        self._last_error = error
        self._next_full = now + self._error_pause
        self._error_pause = min(self._error_pause * 2, _LONGEST_ERROR_PAUSE)

    def _tell(self, notice: Notice | None) -> None:
        if notice is not None and self.notifier is not None:
            self.notifier.tell(notice)
