"""A look at one stack: what is not as it was left, and why (D2). Changes and writes nothing.

One `preview --refresh` tells both what a refresh finds and what an update would do. The report is
made of that by pure functions; reconcile.py repairs what is found here. Where the engine cannot go
on, mostly because coderd is out of reach, what it had found until then may well be the reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from coder_stack.descriptors import ENTITLEMENTS, OPERATOR_ACCESS
from coder_stack.operate.diagnosis import causes
from coder_stack.operate.diagnosis import ignore_rules as rules
from coder_stack.operate.diagnosis.findings import Finding, findings
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.events import EngineRun, Step
from coder_stack.operate.engine.pulumi import CutShortError, StackEngine
from coder_stack.operate.report.model import Report, ResourceReport
from coder_stack.operate.report.outputs import facts_in
from coder_stack.settings import ConfigError, DriftSettings, load

__all__ = ["DriftCheck", "check_drift", "drift_settings", "report_of"]

_CLUSTER = "kubernetes:"
_ACCESS = OPERATOR_ACCESS.type
"""Its update gets another token, without which nothing else in coderd can be looked at."""


@dataclass(frozen=True)
class DriftCheck:
    """The report, and what a repair has to know."""

    report: Report
    settings: DriftSettings
    deletes: int = 0
    replaces: int = 0
    repairs: tuple[str, ...] = ()
    """URNs that the counted update would touch; what rules ignore is not among them."""
    first: tuple[str, ...] = ()
    """URNs to repair before anything else can be looked at; then the result is `error`."""


def check_drift(stack: StackEngine) -> DriftCheck:
    """Raises OperationError if nothing can be said: an error is no drift."""
    stack.refuse_if_locked()
    try:
        run = stack.preview()
    except CutShortError as cut:
        return _half_a_look(stack, cut)
    settings = drift_settings(run)
    now = datetime.now(UTC)
    report = report_of(stack.name, run, settings, now)
    if report.result == "drift":
        # It may be the half-done work of an update that has started since.
        stack.refuse_if_locked()
    spared = rules.spared(settings.ignore, run, now.date())
    return DriftCheck(report, settings, run.deletes, run.replaces, _repairs(run, spared))


def _repairs(run: EngineRun, spared: Sequence[str]) -> tuple[str, ...]:
    return tuple(urn for urn in run.planned if urn not in spared)


def _half_a_look(stack: StackEngine, cut: CutShortError) -> DriftCheck:
    """What is wrong in the cluster or with operator access, as far as it was told.

    Not what may merely be due to what was not told any more. Also what only the program asks for:
    a refresh that failed has recorded a deleted object as gone. Such objects can be repaired by
    themselves, if they need not be replaced. What else lies in coderd hangs together, and of
    deletes nothing is known yet.
    """
    planned = cut.run.planned
    seen = [
        each
        for each in findings(cut.run)
        if (each.type == _ACCESS or each.type.startswith(_CLUSTER))
        and (each.origin == "world" or _stands_alone(planned[each.urn]))
    ]
    if not seen:
        raise cut
    settings, now = drift_settings(cut.run), datetime.now(UTC)
    resources = tuple(_resources(seen, cut.run, settings, now))
    counted = dict.fromkeys(each.urn for each in resources if each.ignored_by is None)
    first = tuple(urn for urn in counted if urn in planned and _stands_alone(planned[urn]))
    stack.refuse_if_locked()
    report = Report(
        schema=1,
        stack=stack.name,
        checked_at=now,
        result="error",
        error=str(cut),
        resources=resources,
    )
    return DriftCheck(report, settings, first=first)


def _stands_alone(plan: Step) -> bool:
    """Whether it can be repaired by itself. Operator access needs nothing but its own inputs."""
    return plan.op in ("create", "update") and (plan.type == _ACCESS or not plan.may_follow)


def drift_settings(run: EngineRun) -> DriftSettings:
    """The stack's own `drift` settings; whatever else its program is configured by."""
    key = f"{run.project}:drift"
    try:
        ours = {key: run.config[key]} if key in run.config else {}
        return load(ours, run.project).drift
    except ConfigError as error:
        raise OperationError(f"The config's drift rules are wrong: {error.problems[0]}.") from None


def report_of(stack: str, run: EngineRun, settings: DriftSettings, now: datetime) -> Report:
    """Pure: from the engine's run to the report."""
    resources = tuple(_resources(findings(run), run, settings, now))
    counted = any(each.ignored_by is None for each in resources)
    return Report(
        schema=1,
        stack=stack,
        checked_at=now,
        result="drift" if counted else "clean",
        resources=resources,
        expired_rules=rules.expired(settings.ignore, now.date()),
        **facts_in(run.outputs),
    )


def _resources(
    found: Sequence[Finding], run: EngineRun, settings: DriftSettings, now: datetime
) -> list[ResourceReport]:
    stack = causes.stack_facts(_licensed(run), found)
    return [
        ResourceReport(
            urn=part.urn,
            type=part.type,
            name=part.name,
            kind="replaced" if causes.another_license(part, stack) else part.kind,
            cause=causes.cause(part, stack),
            properties=part.properties,
            ignored_by=reason,
        )
        for each in found
        for part, reason in rules.apply(settings.ignore, each, now.date())
    ]


def _licensed(run: EngineRun) -> object:
    """Whether coderd has any license now, if the entitlements could be read."""
    for step in run.refreshed.values():
        if step.type == ENTITLEMENTS.type and step.new and not step.new.outputs.get("stale"):
            return step.new.outputs.get("has_license")
    return None
