"""Check one stack for drift and explain it (D2). Changes nothing and writes no state.

One `preview --refresh` shows what a refresh finds and what an update would do; pure functions turn
that into a report. If the engine aborts, mostly because coderd is unreachable, the report lists
what was found before: it may be the reason. reconcile.py repairs what is found here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from coder_stack.descriptors import ENTITLEMENTS, OPERATOR_ACCESS
from coder_stack.operate.diagnosis import causes, ignore_rules
from coder_stack.operate.diagnosis.doubts import doubted
from coder_stack.operate.diagnosis.findings import Finding, findings
from coder_stack.operate.diagnosis.kubernetes_causes import is_lost_database
from coder_stack.operate.diagnosis.next_steps import for_finding, for_what_was_found
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.events import EngineRun, Step
from coder_stack.operate.engine.pulumi import AbortedError, StackEngine
from coder_stack.operate.report.model import Report, ResourceReport
from coder_stack.operate.report.outputs import parse_outputs, readiness
from coder_stack.operate.silent_clusters import (
    SilentCluster,
    silent_clusters,
    unknown_resources,
    unseen_components,
)
from coder_stack.settings import ConfigError, DriftSettings, load, namespace_of

_KUBERNETES = "kubernetes:"


@dataclass(frozen=True)
class DriftCheck:
    """The report, and what a repair needs to know."""

    report: Report
    settings: DriftSettings
    deletes: int = 0
    replaces: int = 0
    creates: int = 0
    """Resources to create that the refresh did not find missing."""
    empty: bool = False
    """Whether the state has no resources: the stack was destroyed, or never deployed."""
    repairs: tuple[str, ...] = ()
    """URNs to update, or only to record as they are; without those that ignore rules cover."""
    left_out: tuple[str, ...] = ()
    """Clusters that did not answer; an update must leave them out, too."""
    repair_first: tuple[str, ...] = ()
    """URNs to repair before the rest can be checked; set only if the result is `error`."""


def check_drift(stack: StackEngine) -> DriftCheck:
    """Raise OperationError if the stack cannot be checked: an error is not drift."""
    stack.raise_if_locked()
    silent: tuple[SilentCluster, ...] = ()
    try:
        run = stack.preview()
    except AbortedError as aborted:
        silent = silent_clusters(aborted.run, stack.project.folder)
        if not silent:
            return _partial_check(stack, aborted)
        stack = stack.without(each.name for each in silent)
        try:
            run = stack.preview()
        except AbortedError as again:
            return _partial_check(stack, again)
    settings = drift_settings(run)
    now = datetime.now(UTC)
    report = build_report(stack.name, run, settings, now, silent)
    if report.result == "drift":
        # It may be the half-done work of an update that has started since.
        stack.raise_if_locked()
    ignored = ignore_rules.ignored_urns(settings.ignore, run, now.date())
    # What a refresh alone repairs is a target as well: newer engines refresh nothing else.
    counted = (each.urn for each in report.resources if not (each.ignored_by or each.cluster))
    repairs = tuple(urn for urn in dict.fromkeys((*run.planned, *counted)) if urn not in ignored)
    return DriftCheck(
        report,
        settings,
        deletes=run.deletes,
        replaces=run.replaces,
        creates=run.creates,
        empty=run.empty,
        repairs=repairs,
        left_out=stack.left_out,
    )


def _partial_check(stack: StackEngine, aborted: AbortedError) -> DriftCheck:
    """Report what was found in the cluster, and the operator's access, before the abort.

    Leaves out all other objects in coderd, and planned changes that may be consequences of what was
    not checked. Other planned changes are reported: a failed refresh may already have removed a
    deleted object from the state. Deletes are not known yet.
    """
    planned = aborted.run.planned
    found = [
        each
        for each in findings(aborted.run)
        if (each.type == OPERATOR_ACCESS.type or each.type.startswith(_KUBERNETES))
        and (each.origin == "refresh" or _can_repair_alone(planned[each.urn]))
    ]
    if not found:
        raise aborted
    settings, now = drift_settings(aborted.run), datetime.now(UTC)
    resources = tuple(_resources(stack.name, found, aborted.run, settings, now))
    counted = dict.fromkeys(each.urn for each in resources if each.ignored_by is None)
    lost = {each.urn for each in found if is_lost_database(each.type, each.kind, each.origin)}
    first = tuple(
        urn
        for urn in counted
        if urn in planned and urn not in lost and _can_repair_alone(planned[urn])
    )
    stack.raise_if_locked()
    report = Report(
        stack=stack.name,
        written_at=now,
        checked_at=now,
        result="error",
        error=str(aborted),
        error_next_step=for_what_was_found(stack.name) if first else aborted.next_step(stack.name),
        resources=resources,
    )
    return DriftCheck(report, settings, repair_first=first, left_out=stack.left_out)


def _can_repair_alone(plan: Step) -> bool:
    """Return whether an update of this resource alone repairs it."""
    # Operator access depends on no other resource, although its inputs are secrets.
    independent = plan.type == OPERATOR_ACCESS.type or not plan.may_be_consequence
    return plan.op in ("create", "update") and independent


def drift_settings(run: EngineRun) -> DriftSettings:
    """Read the `drift` section of the stack's config; another program may have other sections."""
    key = f"{namespace_of(run.config, run.project)}:drift"
    try:
        config = {key: run.config[key]} if key in run.config else {}
        return load(config, run.project).drift
    except ConfigError as error:
        problems = "; ".join(map(str, error.problems))
        raise OperationError(
            f"The config's drift rules are wrong: {problems}.",
            "Correct the config, then check it.",
            "coder-stack config check Pulumi.{stack}.yaml",
        ) from None


def build_report(
    stack: str,
    run: EngineRun,
    settings: DriftSettings,
    now: datetime,
    silent: Sequence[SilentCluster] = (),
) -> Report:
    """Turn the engine's run into the report. Pure.

    What is in silent clusters is unknown, and a stack with anything unknown is not clean.
    """
    found = findings(run)
    unknown = unknown_resources(stack, run, silent)
    resources = (*_resources(stack, found, run, settings, now), *unknown)
    counted = {each.urn for each in resources if each.ignored_by is None}
    outputs = parse_outputs(run.outputs).without(unseen_components(run, unknown))
    conditions = doubted(outputs.conditions, [each for each in found if each.urn in counted], stack)
    return Report(
        stack=stack,
        written_at=now,
        checked_at=now,
        result="drift" if counted else "clean",
        readiness=readiness(conditions),
        resources=resources,
        expired_rules=ignore_rules.expired(settings.ignore, now.date()),
        conditions=conditions,
        license=outputs.license,
        keys=outputs.keys,
        proxies=outputs.proxies,
    )


def _resources(
    stack: str,
    found: Sequence[Finding],
    run: EngineRun,
    settings: DriftSettings,
    now: datetime,
) -> list[ResourceReport]:
    facts = causes.stack_facts(_has_license(run), found)
    return [
        ResourceReport(
            urn=part.urn,
            type=part.type,
            name=part.name,
            kind="replaced" if causes.another_license(part, facts) else part.kind,
            origin=part.origin,
            cause=causes.cause(part, facts),
            next_step=None if rule else for_finding(part, stack),
            properties=part.properties,
            ignored_by=rule.reason if rule else None,
            ignored_until=rule.until if rule else None,
        )
        for each in found
        for part, rule in ignore_rules.apply(settings.ignore, each, now.date())
    ]


def _has_license(run: EngineRun) -> object:
    """Return whether coderd has any license; None if the entitlements could not be read."""
    for step in run.refreshed.values():
        if step.type == ENTITLEMENTS.type and step.new and not step.new.outputs.get("stale"):
            return step.new.outputs.get("has_license")
    return None
