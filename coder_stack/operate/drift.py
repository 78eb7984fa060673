"""A look at one stack: what is not as it was left, and why (D2). Changes and writes nothing.

One `preview --refresh` tells both what a refresh finds and what an update would do. The report is
made of that by pure functions; reconcile.py repairs what is found here. Where the engine cannot go
on, mostly because coderd is out of reach, what it had found until then may well be the reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from coder_stack.operate import causes, rules
from coder_stack.operate.causes import World
from coder_stack.operate.engine import CutShortError, StackEngine
from coder_stack.operate.facts import facts
from coder_stack.operate.failures import OperationError
from coder_stack.operate.findings import Finding, findings
from coder_stack.operate.report import Report, ResourceReport
from coder_stack.operate.steps import Step, Story
from coder_stack.settings import ConfigError, Drift, load

__all__ = ["Look", "drift_settings", "look", "report_of"]

_CLUSTER = "kubernetes:"
_ACCESS = "pulumi-python:dynamic/coder:OperatorAccess"
"""Its update gets another token, without which nothing else in coderd can be looked at."""


@dataclass(frozen=True)
class Look:
    """The report, and what a repair has to know."""

    report: Report
    settings: Drift
    deletes: int = 0
    replaces: int = 0
    repairs: tuple[str, ...] = ()
    """URNs that the counted update would touch; what rules ignore is not among them."""
    first: tuple[str, ...] = ()
    """URNs to repair before anything else can be looked at; then the result is `error`."""


def look(stack: StackEngine) -> Look:
    """Raises OperationError if nothing can be said: an error is no drift."""
    stack.refuse_if_locked()
    try:
        story = stack.preview()
    except CutShortError as cut:
        return _half_a_look(stack, cut)
    settings = drift_settings(story)
    now = datetime.now(UTC)
    report = report_of(stack.name, story, settings, now)
    if report.result == "drift":
        # It may be the half-done work of an update that has started since.
        stack.refuse_if_locked()
    spared = rules.spared(settings.ignore, story, now.date())
    return Look(report, settings, story.deletes, story.replaces, _repairs(story, spared))


def _repairs(story: Story, spared: Sequence[str]) -> tuple[str, ...]:
    return tuple(urn for urn in story.planned if urn not in spared)


def _half_a_look(stack: StackEngine, cut: CutShortError) -> Look:
    """What is wrong in the cluster or with operator access, as far as it was told.

    Not what may merely be due to what was not told any more. Also what only the program asks for:
    a refresh that failed has recorded a deleted object as gone. Such objects can be repaired by
    themselves, if they need not be replaced. What else lies in coderd hangs together, and of
    deletes nothing is known yet.
    """
    planned = cut.story.planned
    seen = [
        each
        for each in findings(cut.story)
        if (each.type == _ACCESS or each.type.startswith(_CLUSTER))
        and (each.origin == "world" or _stands_alone(planned[each.urn]))
    ]
    if not seen:
        raise cut
    settings, now = drift_settings(cut.story), datetime.now(UTC)
    resources = tuple(_resources(seen, cut.story, settings, now))
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
    return Look(report, settings, first=first)


def _stands_alone(plan: Step) -> bool:
    """Whether it can be repaired by itself. Operator access needs nothing but its own inputs."""
    return plan.op in ("create", "update") and (plan.type == _ACCESS or not plan.may_follow)


def drift_settings(story: Story) -> Drift:
    """The stack's own `drift` settings; whatever else its program is configured by."""
    key = f"{story.project}:drift"
    try:
        ours = {key: story.config[key]} if key in story.config else {}
        return load(ours, story.project).drift
    except ConfigError as error:
        raise OperationError(f"The config's drift rules are wrong: {error.problems[0]}.") from None


def report_of(stack: str, story: Story, settings: Drift, now: datetime) -> Report:
    """Pure: from the engine's story to the report."""
    resources = tuple(_resources(findings(story), story, settings, now))
    counted = any(each.ignored_by is None for each in resources)
    return Report(
        schema=1,
        stack=stack,
        checked_at=now,
        result="drift" if counted else "clean",
        resources=resources,
        expired_rules=rules.expired(settings.ignore, now.date()),
        **facts(story.outputs),
    )


def _resources(
    found: Sequence[Finding], story: Story, settings: Drift, now: datetime
) -> list[ResourceReport]:
    world = World.of(_licensed(story), found)
    return [
        ResourceReport(
            urn=part.urn,
            type=part.type,
            name=part.name,
            kind="replaced" if causes.another_license(part, world) else part.kind,
            cause=causes.cause(part, world),
            properties=part.properties,
            ignored_by=reason,
        )
        for each in found
        for part, reason in rules.apply(settings.ignore, each, now.date())
    ]


def _licensed(story: Story) -> object:
    """Whether coderd has any license now, if the entitlements could be read."""
    for step in story.refreshed.values():
        if step.kind == "Entitlements" and step.new and not step.new.outputs.get("stale"):
            return step.new.outputs.get("has_license")
    return None
