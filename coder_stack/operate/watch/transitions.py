"""What to tell people: changes of a stack's condition, each once (N2). Pure.

A drift or an error that comes back within an hour is told once more, as one that keeps coming back;
after that it is silent until it has stayed away for an hour. So a controller that undoes every
repair costs a few messages, not one for each round.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from coder_stack.counting import counted
from coder_stack.operate.report.model import NextStep, Report, ResourceReport
from coder_stack.operate.report.sentences import days_until, format_day
from coder_stack.operate.report.summary import drifted
from coder_stack.operate.watch.facts import LicenseEnd

Transition = Literal[
    "drift", "repaired", "refused", "error", "returning", "recovered", "license ends"
]
_MEMORY_SECONDS = 3600.0


@dataclass(frozen=True)
class Notice:
    """One message: what changed, why, and what to do."""

    stack: str
    transition: Transition
    summary: str
    resources: tuple[ResourceReport, ...] = ()
    next_step: NextStep | None = None


@dataclass
class Told:
    """What was told last, and what came back since."""

    _state: str = ""
    """Identifies the drift or error that was told last; empty: none."""
    _refused: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Refusals that were told, each with its drift, within the memory."""
    _times: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """When each drift or error began, within the memory."""
    _license: LicenseEnd | None = None

    def found(self, report: Report, now: float) -> Notice | None:
        """Return what to tell of a check, before anything is repaired."""
        if report.result == "clean":
            return None
        identity = _identity(report)
        if identity == self._state:
            return None
        self._state = identity
        times = self._times.setdefault(identity, [])
        times.append(now)
        if len(times) == 1:
            return _error(report) if report.result == "error" else _drift(report)
        return _returning(report, len(times)) if len(times) == 2 else None

    def ended(self, report: Report, now: float) -> Sequence[Notice]:
        """Return what to tell of a check or a repair that has ended."""
        if report.result == "clean":
            notices = [self._cleared(report)]
        else:
            notices = [self.found(report, now), self._refusal(report)]
        return [each for each in notices if each]

    def calm(self, stack: str, now: float) -> Notice | None:
        """Forget what has stayed away for long; tell of what used to come back."""
        ended = [
            identity
            for identity, times in self._times.items()
            if identity != self._state and now - times[-1] > _MEMORY_SECONDS
        ]
        returning = [identity for identity in ended if len(self._times[identity]) > 1]
        for identity in ended:
            del self._times[identity]
        self._refused = {each for each in self._refused if each[0] in self._times}
        if not returning or self._state:
            return None
        summary = "What kept coming back has stayed away for an hour."
        return Notice(stack=stack, transition="recovered", summary=summary)

    def license(self, stack: str, end: LicenseEnd | None, now: datetime) -> Notice | None:
        """Tell once that the license ends within its `warnDays`."""
        if end is None or end.license_expires - now > timedelta(days=end.warn_days):
            self._license = None
            return None
        if end == self._license:
            return None
        self._license = end
        day, when = format_day(end.license_expires), days_until(end.license_expires, now)
        return Notice(
            stack=stack,
            transition="license ends",
            summary=f"The license ends on {day} ({when}).",
            next_step=NextStep(
                text="Set the new license, then deploy.",
                command=f"pulumi config set --secret licenseJwt --stack {stack} && pulumi up",
            ),
        )

    def _refusal(self, report: Report) -> Notice | None:
        if not report.refused or (told := (self._state, report.refused)) in self._refused:
            return None
        self._refused.add(told)
        return Notice(
            stack=report.stack,
            transition="refused",
            summary=report.refused,
            resources=tuple(drifted(report)),
            next_step=report.refused_next_step,
        )

    def _cleared(self, report: Report) -> Notice | None:
        before, self._state = self._state, ""
        if not before or len(self._times.get(before, ())) > 1:
            return None
        if report.repairs:
            names = f"{counted(len(report.repairs), 'resource')} repaired"
            return Notice(report.stack, "repaired", f"{names}; the stack is clean.", report.repairs)
        return Notice(report.stack, "recovered", "The stack is clean again.")


def license_warning(report: Report, now: datetime) -> Notice | None:
    """Return the message about a license that ends soon, of a report."""
    dates = report.license
    if dates is None or dates.license_expires is None:
        return None
    end = LicenseEnd(dates.license_expires, dates.warn_days or 0)
    return Told().license(report.stack, end, now)


def notices_of(report: Report, now: datetime) -> tuple[Notice, ...]:
    """Return what a single run tells, which remembers no earlier one: all but a clean stack."""
    told = Told()
    notices = [told.found(report, 0), *told.ended(report, 0)]
    if report.repairs and report.result == "clean":
        names = f"{counted(len(report.repairs), 'resource')} repaired"
        repaired = f"{names}; the stack is clean."
        notices.append(Notice(report.stack, "repaired", repaired, report.repairs))
    return tuple(filter(None, [*notices, license_warning(report, now)]))


def _identity(report: Report) -> str:
    if report.result == "error":
        return f"error {report.error}"
    return f"drift {sorted(f'{each.kind} {each.urn}' for each in drifted(report))}"


def _drift(report: Report) -> Notice:
    found = drifted(report)
    verb = "differs" if len(found) == 1 else "differ"
    summary = f"{counted(len(found), 'resource')} {verb}: {_causes(found)}"
    return Notice(report.stack, "drift", summary, tuple(found), _first_step(found))


def _error(report: Report) -> Notice:
    summary = report.error or "The check failed."
    found = tuple(drifted(report))
    return Notice(report.stack, "error", summary, found, report.error_next_step)


def _returning(report: Report, times: int) -> Notice:
    found = drifted(report)
    what = report.error if report.result == "error" else _causes(found)
    summary = (
        f"Came back {times} times within an hour, so something undoes the repair: {what} "
        "Nothing more is told of it until it stays away for an hour."
    )
    step = report.error_next_step or _first_step(found)
    return Notice(report.stack, "returning", summary, tuple(found), step)


def _causes(found: Iterable[ResourceReport]) -> str:
    causes = list(dict.fromkeys(each.cause for each in found))
    most = 3
    more = f" And {counted(len(causes) - most, 'other cause')}." if len(causes) > most else ""
    return " ".join(causes[:most]) + more


def _first_step(found: Iterable[ResourceReport]) -> NextStep | None:
    return next((each.next_step for each in found if each.next_step), None)
