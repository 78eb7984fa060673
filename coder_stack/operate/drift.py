"""A look at one stack: what is not as it was left, and why (D2). Changes and writes nothing.

One `preview --refresh` tells both what a refresh finds and what an update would do. The report is
made of that by pure functions; reconcile.py repairs what is found here.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from coder_stack.operate import causes, rules
from coder_stack.operate.causes import World
from coder_stack.operate.engine import StackEngine
from coder_stack.operate.facts import facts
from coder_stack.operate.failures import OperationError
from coder_stack.operate.findings import findings
from coder_stack.operate.report import Report, ResourceReport
from coder_stack.operate.steps import Story
from coder_stack.settings import ConfigError, Drift, load

__all__ = ["Look", "drift_settings", "look", "report_of"]


@dataclass(frozen=True)
class Look:
    """The report, and what a repair has to know."""

    report: Report
    settings: Drift
    deletes: int = 0
    replaces: int = 0
    spared: tuple[str, ...] = ()
    """URNs that a repair leaves alone."""


def look(stack: StackEngine) -> Look:
    """Raises OperationError if nothing can be said: an error is no drift."""
    stack.refuse_if_locked()
    story = stack.preview()
    settings = drift_settings(story)
    now = datetime.now(UTC)
    report = report_of(stack.name, story, settings, now)
    if report.result == "drift":
        # It may be the half-done work of an update that has started since.
        stack.refuse_if_locked()
    spared = rules.spared(settings.ignore, story, now.date())
    return Look(report, settings, story.deletes, story.replaces, spared)


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
    resources = tuple(_resources(story, settings, now))
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


def _resources(story: Story, settings: Drift, now: datetime) -> list[ResourceReport]:
    found = findings(story)
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
