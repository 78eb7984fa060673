"""What the license allows, read on every preview, up and refresh (E1-E6).

`check` asks coderd and returns the answer as inputs: a change shows in a plain preview, and what
depends on it knows it in the same preview. Values that change by themselves (check time, users in
use, "expires in N days") are outputs only. Changes nothing in coderd.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pulumi
from pulumi import dynamic
from pulumi.output import Unknown

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import CoderdError, RouteAbsent
from coder_stack.coderd.models import EntitlementsRecord
from coder_stack.coderd.reasons import Reason, entitlements_reason
from coder_stack.console import warn
from coder_stack.descriptors import ENTITLEMENTS
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.check import CheckRequest, checked, filled
from coder_stack.dynamic.runtime.props import Problem, Props, PropsModel
from coder_stack.dynamic.runtime.provider import CoderdProvider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.runtime.session import CoderdInputs, Session
from coder_stack.features import GRACE_PERIOD


class FeatureFacts(PropsModel):
    """One feature, without how much of it is in use."""

    entitlement: str = "not_entitled"
    enabled: bool = False
    limit: int | None = None


class EntitlementFacts(PropsModel):
    """What is compared. `tier` is `unknown` until coderd has answered once."""

    tier: str = "unknown"
    has_license: bool = False
    features: Mapping[str, FeatureFacts] = {}
    errors: tuple[str, ...] = ()
    stale: bool = False
    """The values are the last known ones: coderd could not be asked."""
    reason: str = ""
    """Why they are stale, or NotSupported for a build without licenses; else empty."""


class EntitlementsInputs(CoderdInputs, EntitlementFacts):
    """The program gives connection and deployment, `check` the rest."""

    deployment_id: str = ""
    """Of operator access; while it is unknown and nothing was read yet, so are the facts."""


class EntitlementsState(EntitlementsInputs):
    """With what changes by itself, as of `checked_at`."""

    usage: Mapping[str, int] = {}
    warnings: tuple[str, ...] = ()
    checked_at: str = ""


def facts_of(found: EntitlementsRecord) -> EntitlementFacts:
    """Reduce coderd's answer to what counts as a change (E2)."""
    return EntitlementFacts(
        tier=found.tier,
        has_license=found.has_license,
        features={
            name: FeatureFacts(
                entitlement=feature.entitlement, enabled=feature.enabled, limit=feature.limit
            )
            for name, feature in sorted(found.features.items())
        },
        errors=found.errors,
    )


def facts_without_answer(error: CoderdError, last: EntitlementFacts | None) -> EntitlementFacts:
    """Return the last known facts, marked stale (E6); a missing route is an answer (AGPL)."""
    if isinstance(error, RouteAbsent):
        return EntitlementFacts(tier="none", reason=Reason.NOT_SUPPORTED)
    return stale(last, entitlements_reason(error.reason))


def stale(last: EntitlementFacts | None, reason: Reason) -> EntitlementFacts:
    """Mark the last known facts as stale."""
    marked = {"stale": True, "reason": str(reason)}
    return (last or EntitlementFacts()).model_copy(update=marked)


def features_in_grace(facts: EntitlementFacts) -> list[str]:
    """List the features that are entitled for a while only (E3)."""
    return [name for name, each in facts.features.items() if each.entitlement == GRACE_PERIOD]


_USAGE = ("usage", "warnings", "checked_at")
_UNKNOWN: Mapping[str, Any] = dict.fromkeys(EntitlementFacts.model_fields, Unknown())


class EntitlementsProvider(CoderdProvider[EntitlementsInputs, EntitlementsState]):
    """Reads; there is nothing to create or delete."""

    descriptor = ENTITLEMENTS
    only_reads = True

    def check(self, _olds: Props, news: Props) -> dynamic.CheckResult:
        """Leave the facts unknown in a preview that will create operator access.

        The update creates coderd and uploads the license first, and that changes the facts.
        """
        if not _olds and pulumi.contains_unknowns(news.get("deployment_id")):
            return checked(filled(EntitlementsInputs, news, _UNKNOWN), [])
        return super().check(_olds, news)

    def examine(
        self, request: CheckRequest[EntitlementsInputs], session: Session | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Ask coderd; without a connection return the last known facts, or unknown ones."""
        if session is None:
            if request.old is None:
                return _UNKNOWN, []
            return _values(stale(request.old, Reason.PENDING)), []
        try:
            facts = facts_of(session.peek_cached(answers.ENTITLEMENTS))
        except CoderdError as error:
            facts = facts_without_answer(error, request.old)
            warn(f"{facts.reason}: entitlements, check: {error}")
        if grace := features_in_grace(facts):
            warn(f"entitlements, check: in grace, renew the license: {', '.join(grace)}.")
        return _values(facts), []

    def create_object(self, session: Session, want: EntitlementsInputs) -> EntitlementsState:
        """Store what `check` found."""
        return self._with_usage(session, want)

    def update_object(
        self, session: Session, want: EntitlementsInputs, known: EntitlementsState
    ) -> EntitlementsState:
        """Store what `check` found; without an answer keep the last known usage (E6)."""
        return self._with_usage(session, want, known)

    def observe(self, session: Session, known: EntitlementsState) -> EntitlementsState | None:
        """Ask coderd; without an answer return what was known, and why (U1)."""
        try:
            found = session.cached(answers.ENTITLEMENTS)
        except CoderdError as error:
            facts = facts_without_answer(error, known)
            warn(f"{facts.reason}: entitlements, read: {error}")
            return known.model_copy(update=_values(facts))
        return known.model_copy(update={**_values(facts_of(found)), **_usage(found)})

    def identify(self, state: EntitlementsState) -> str:
        """Return a constant: there is one per connection."""
        return "entitlements"

    def _with_usage(
        self, session: Session, want: EntitlementsInputs, known: EntitlementsState | None = None
    ) -> EntitlementsState:
        usage: Mapping[str, Any] = _last_known(known)
        if not want.stale:
            try:
                usage = {} if want.reason else _usage(session.peek(Coderd.entitlements))
            except CoderdError as error:
                warn(f"{error.reason}: entitlements, usage: {error}")
        return EntitlementsState.model_validate({**dict(want), **usage})


def _values(facts: EntitlementFacts) -> dict[str, Any]:
    return {name: getattr(facts, name) for name in EntitlementFacts.model_fields}


def _usage(found: EntitlementsRecord) -> dict[str, Any]:
    return {
        "usage": {n: f.actual for n, f in sorted(found.features.items()) if f.actual is not None},
        "warnings": found.warnings,
        "checked_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _last_known(known: EntitlementsState | None) -> dict[str, Any]:
    return {name: getattr(known, name) for name in _USAGE} if known else {}


class Entitlements(CoderdResource, descriptor=ENTITLEMENTS):
    """What coderd's licenses allow."""

    tier: pulumi.Output[str]
    has_license: pulumi.Output[bool]
    features: pulumi.Output[dict[str, dict[str, Any]]]
    errors: pulumi.Output[list[str]]
    stale: pulumi.Output[bool]
    reason: pulumi.Output[str]
    usage: pulumi.Output[dict[str, float]]
    warnings: pulumi.Output[list[str]]
    checked_at: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        connection: pulumi.Input[Mapping[str, Any]],
        deployment_id: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {"connection": connection, "deployment_id": deployment_id}
        super().__init__(EntitlementsProvider(), name, props, opts)
