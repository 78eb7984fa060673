"""A licensed feature that decides how coderd itself is deployed, such as its replicas.

Entitlements are read after coderd's Deployment, so this asks in `check`, before it. The state
records whether the gate was ever open: losing the license later closes nothing (E5). On a fresh
stack nobody answers: the gate is closed, and opens in the next run (E4). Needs no token, and
changes nothing in coderd.
"""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi.output import Unknown

from coder_stack.coderd.errors import CoderdError, NoAnswer, RouteAbsent
from coder_stack.coderd.models import EntitlementsRecord
from coder_stack.coderd.reasons import Reason, entitlements_reason
from coder_stack.console import warn
from coder_stack.descriptors import FEATURE_GATE
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.check import CheckRequest
from coder_stack.dynamic.runtime.props import Problem
from coder_stack.dynamic.runtime.provider import CoderdProvider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.runtime.session import CoderdInputs, Session


class GateInputs(CoderdInputs):
    """The program gives connection and feature, `check` the rest."""

    feature: str
    entitled: bool = False
    """As coderd says now, or said last."""
    open: bool = False
    """Whether it was entitled at any time."""
    reason: str = ""
    """Why not entitled, or why `entitled` is only the last known; else empty."""


class GateState(GateInputs):
    """Nothing more."""


def gate_of(found: EntitlementsRecord, feature: str, last: GateInputs | None) -> dict[str, Any]:
    """Decide by coderd's answer."""
    entitled = found.entitled(feature)
    reason = "" if entitled else str(Reason.NOT_ENTITLED)
    return {"entitled": entitled, "open": entitled or was_open(last), "reason": reason}


def gate_without_answer(error: CoderdError, last: GateInputs | None) -> dict[str, Any]:
    """Keep what was known (U1); a missing route is an answer (AGPL)."""
    entitled = last is not None and last.entitled and not isinstance(error, RouteAbsent)
    reason = entitlements_reason(error.reason)
    if last is None and isinstance(error, NoAnswer):
        reason = Reason.PENDING  # a fresh stack: coderd comes with this very run
    return {"entitled": entitled, "open": was_open(last), "reason": str(reason)}


def was_open(last: GateInputs | None) -> bool:
    """Tell whether it was ever open: then it stays open (E5)."""
    return last is not None and last.open


class FeatureGateProvider(CoderdProvider[GateInputs, GateState]):
    """Reads and remembers; there is nothing to create or delete."""

    descriptor = FEATURE_GATE
    only_reads = True
    replace_on = ("feature",)

    def label(self, model: GateInputs) -> str:
        """Name the feature."""
        return f"{self.noun} {model.feature}"

    def examine(
        self, request: CheckRequest[GateInputs], session: Session | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Ask coderd, without waiting long."""
        feature, old = request.known.get("feature"), request.old
        last = old if old is not None and old.feature == feature else None
        if session is None or feature is None:
            if last is None:
                return dict.fromkeys(("entitled", "open", "reason"), Unknown()), []
            return {"entitled": last.entitled, "open": last.open, "reason": str(Reason.PENDING)}, []
        try:
            return gate_of(session.peek_cached(answers.ENTITLEMENTS), feature, last), []
        except CoderdError as error:
            gate = gate_without_answer(error, last)
            if last is not None:
                warn(f"{gate['reason']}: {self.label(last)}, check: {error}")
            return gate, []

    def create_object(self, session: Session, want: GateInputs) -> GateState:
        """Store what `check` found."""
        return GateState.model_validate(dict(want))

    def observe(self, session: Session, known: GateState) -> GateState | None:
        """Ask coderd; without an answer return what was known, and why."""
        try:
            gate = gate_of(session.cached(answers.ENTITLEMENTS), known.feature, known)
        except CoderdError as error:
            gate = gate_without_answer(error, known)
            warn(f"{gate['reason']}: {self.label(known)}, read: {error}")
        return known.model_copy(update=gate)

    def identify(self, state: GateState) -> str:
        """Return the feature: there is one gate for each."""
        return state.feature


class FeatureGate(CoderdResource, descriptor=FEATURE_GATE):
    """Known in the same preview; give it no dependency on coderd's own Deployment."""

    feature: pulumi.Output[str]
    entitled: pulumi.Output[bool]
    open: pulumi.Output[bool]
    reason: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        connection: pulumi.Input[Mapping[str, Any]],
        feature: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {"connection": connection, "feature": feature}
        super().__init__(FeatureGateProvider(), name, props, opts)
