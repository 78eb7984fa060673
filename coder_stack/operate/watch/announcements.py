"""Say what came of a check: in the log, the metrics, Kubernetes Events and notices (N2, N3)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from coder_stack.counting import counted
from coder_stack.operate.report.model import Report
from coder_stack.operate.report.summary import drifted
from coder_stack.operate.watch.facts import LicenseEnd
from coder_stack.operate.watch.metrics import WatchMetrics, timestamp
from coder_stack.operate.watch.notifier import Notifier
from coder_stack.operate.watch.object_events import ObjectEvents
from coder_stack.operate.watch.transitions import Notice, Told


@dataclass
class Announcements:
    """Everything that a watcher says about the checks of one stack."""

    stack: str
    say: Callable[[str], None]
    metrics: WatchMetrics
    notifier: Notifier | None = None
    _told: Told = field(default_factory=Told)

    def found(self, report: Report, seconds: float, events: ObjectEvents) -> None:
        """Tell what a check found, before it is repaired."""
        if report.result == "clean":
            return
        causes = " ".join(dict.fromkeys(each.cause for each in drifted(report)))
        self.say(f"named after {seconds:.1f} s: {causes or report.error}")
        self._tell(self._told.found(report, time.monotonic()))
        events.write(drifted(report), "DriftFound")

    def ended(self, report: Report, seconds: float, *, was_suspected: bool) -> None:
        """Tell what came of a check, and of its repair."""
        self.metrics.report = report
        self.metrics.look_seconds.observe(seconds)
        self.metrics.looks[report.result].inc()
        self.metrics.confirmed.inc(len({e.urn for e in (*drifted(report), *report.repairs)}))
        self.metrics.repaired.inc(len(report.repairs))
        self.metrics.refused.inc(report.refused is not None)
        self._tell(*self._told.ended(report, time.monotonic()))
        if report.result != "error":
            self.metrics.last_look.set(timestamp())
        if report.repairs:
            names = ", ".join(each.name for each in report.repairs)
            self.say(f"repaired after {seconds:.1f} s: {names}")
        elif report.result == "clean" and was_suspected:
            self.metrics.unconfirmed.inc()
            self.say("not confirmed: the engine found no drift")
        if report.refused:
            self.say(f"refused: {report.refused}")

    def checked(self, report: Report, events: ObjectEvents) -> None:
        """Close a check, when the state that a repair has written is known."""
        events.write(report.repairs, "DriftRepaired")
        left = f", {counted(len(drifted(report)), 'resource')} left as found"
        self.say(f"checked: {report.result}{left if report.result == 'drift' else ''}")

    def failed(self, report: Report) -> None:
        """Tell that no check can begin: the state cannot be read, or a lock does not end."""
        self.metrics.report = report
        self.metrics.looks["error"].inc()
        self._tell(*self._told.ended(report, time.monotonic()))

    def say_error(self, report: Report) -> None:
        """Write an error to the log, with what to do about it."""
        self.say(f"error: {report.error}")
        if step := report.error_next_step:
            self.say(f"next: {step.text} $ {step.command}")

    def calm(self, license_end: LicenseEnd | None) -> None:
        """Tell what comes with time alone."""
        self._tell(self._told.calm(self.stack, time.monotonic()))
        self._tell(self._told.license(self.stack, license_end, datetime.now(UTC)))

    def _tell(self, *notices: Notice | None) -> None:
        for each in notices:
            if each is not None and self.notifier is not None:
                self.notifier.tell(each)
