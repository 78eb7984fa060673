"""What a watcher says about itself to Prometheus (N3).

`/metrics` also has the metrics of the last report, with the dates of the license as of now. Each
name begins with `coder_stack_watch_`; monitoring/ has a dashboard and alert rules for them.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from coder_stack.operate.report.metrics import render
from coder_stack.operate.report.model import Report

_PREFIX = "coder_stack_watch"
_NOTICE_BUCKETS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
_LOOK_BUCKETS = (2, 5, 10, 20, 40, 80, 160, 320, 640, 1280)
SOURCES = ("kubernetes", "coderd")
RESULTS = ("clean", "drift", "error")


@dataclass
class WatchMetrics:
    """The metrics of one watcher."""

    stack: str
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    report: Report | None = None
    """The last one."""

    def __post_init__(self) -> None:
        self.started_at = self._gauge("started_timestamp_seconds", "When this watcher started.")
        self.last_look = self._gauge(
            "last_look_timestamp_seconds", "When the engine last compared the whole stack."
        )
        self.looks = self._counter("looks", "Engine runs, by what they came to.", "result", RESULTS)
        self.suspicions = self._counter(
            "suspicions", "Objects that looked different, by where.", "source", SOURCES
        )
        self.confirmed = self._counter("confirmed", "Resources that the engine called drift.")
        self.unconfirmed = self._counter(
            "unconfirmed", "Engine runs for a suspicion that found no drift."
        )
        self.repaired = self._counter("repaired", "Resources that were repaired.")
        self.refused = self._counter("refused", "Repairs that the limits did not allow.")
        self.pending = self._gauge("pending_suspicions", "Suspicions that no check has judged yet.")
        self.coderd_requests = self._counter("coderd_requests", "Lists that coderd was asked for.")
        self.coderd_up = self._gauge("coderd_up", "1 if coderd answered the last poll.")
        self.streams_down = self._gauge("streams_down", "Kubernetes watches that do not run now.")
        self.notices = self._counter("notices", "Notices that the webhook took.")
        self.failed_notices = self._counter("failed_notices", "Attempts that the webhook refused.")
        self.notice_seconds = Histogram(
            f"{_PREFIX}_notice_seconds",
            "At most this long after the change it was noticed.",
            ["stack", "source"],
            buckets=_NOTICE_BUCKETS,
            registry=self.registry,
        )
        self.look_seconds = Histogram(
            f"{_PREFIX}_look_seconds",
            "How long an engine run took, with its repair.",
            ["stack"],
            buckets=_LOOK_BUCKETS,
            registry=self.registry,
        ).labels(self.stack)
        for source in SOURCES:
            self.notice_seconds.labels(self.stack, source)

    def noticed(self, source: str, seconds: float) -> None:
        """Count a suspicion, and how long the change can have gone unnoticed."""
        self.suspicions[source].inc()
        self.notice_seconds.labels(self.stack, source).observe(max(0.0, seconds))

    def text(self, now: datetime) -> bytes:
        """Return the text format."""
        own = generate_latest(self.registry)
        if self.report is None:
            return own
        return own + render([self.report.model_copy(update={"written_at": now})]).encode()

    def _gauge(self, name: str, help_: str) -> Gauge:
        gauge = Gauge(f"{_PREFIX}_{name}", help_, ["stack"], registry=self.registry)
        return gauge.labels(self.stack)

    def _counter(
        self, name: str, help_: str, label: str = "", values: tuple[str, ...] = ()
    ) -> "Counters":
        labels = ["stack", label] if label else ["stack"]
        counter = Counter(f"{_PREFIX}_{name}", help_, labels, registry=self.registry)
        return Counters(counter, self.stack, values)


class Counters:
    """A counter of one stack, or one for each value of another label; all begin at 0."""

    def __init__(self, counter: Counter, stack: str, values: tuple[str, ...]) -> None:
        self._counter, self._stack = counter, stack
        for value in values:
            counter.labels(stack, value)
        if not values:
            counter.labels(stack)

    def __getitem__(self, value: str) -> Counter:
        return self._counter.labels(self._stack, value)

    def inc(self, amount: float = 1) -> None:
        """Count, for a counter without another label."""
        self._counter.labels(self._stack).inc(amount)


def timestamp() -> float:
    """Return the seconds since the epoch."""
    return datetime.now(UTC).timestamp()
