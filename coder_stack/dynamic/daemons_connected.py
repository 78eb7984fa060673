"""Readiness of provisioners: daemons that are connected with this key, not pods that run (P3).

Waits, with a deadline, until enough daemons of the newest pods are connected (P4). The old key of a
rotation is deleted only after that, so that no pod loses its connection (K5). Versions that differ
from coderd's are reported, not refused. Changes nothing.
"""

import time
from collections.abc import Mapping
from typing import Annotated, Any

import pulumi
from pydantic import Field

from coder_stack.cluster.rollout import Rollout, newest_pods
from coder_stack.coderd.errors import CoderdError, NotEntitled, NotFound
from coder_stack.coderd.models import KeyDaemons
from coder_stack.coderd.reasons import Reason
from coder_stack.console import inform, warn
from coder_stack.descriptors import DAEMONS_CONNECTED
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.errors import Failed
from coder_stack.dynamic.runtime.props import PropsModel
from coder_stack.dynamic.runtime.provider import CoderdProvider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.runtime.session import CoderdInputs, Session

# Each wait keeps one of four worker threads busy, and the engine times out after minutes.
LONGEST_WAIT = 170.0
_PAUSE = 2.0


class DaemonsInputs(CoderdInputs):
    """A change of `revision`, such as a hash of the pod template, starts another wait."""

    organization: str
    key_id: str = ""
    minimum: Annotated[int, Field(ge=0)] = 1
    timeout_seconds: Annotated[float, Field(gt=0, le=LONGEST_WAIT)] = 150.0
    expected_version: str = ""
    """To find version skew; empty: coderd's current version."""
    revision: str = ""
    rollout: Rollout | None = None
    """Whose pods are waited for; without it every daemon that has the key counts."""
    enabled: bool = True


class Seen(PropsModel):
    """The daemons of one key, as coderd lists them."""

    count: int = 0
    versions: tuple[str, ...] = ()
    skewed: tuple[str, ...] = ()
    """Versions that are not coderd's."""


class DaemonsState(DaemonsInputs, Seen):
    """As of the last check."""

    connected: bool = False
    reason: str = ""


def look(
    listed: tuple[KeyDaemons, ...], key_id: str, expected_version: str, prefix: str = ""
) -> Seen:
    """Count the key's daemons whose names begin so.

    A build's suffix (`+abc1234`) makes no other version.
    """
    daemons = [
        daemon
        for each in listed
        if str(each.key.id) == key_id
        for daemon in each.daemons
        if daemon.name.startswith(prefix)
    ]
    versions = sorted({_release(daemon.version) for daemon in daemons})
    expected = _release(expected_version)
    skewed = tuple(v for v in versions if v != expected) if expected else ()
    return Seen(count=len(daemons), versions=tuple(versions), skewed=skewed)


class DaemonsConnectedProvider(CoderdProvider[DaemonsInputs, DaemonsState]):
    """Create and update wait; a refresh counts."""

    descriptor = DAEMONS_CONNECTED
    only_reads = True

    def label(self, model: DaemonsInputs) -> str:
        """Name the key."""
        return f'{self.noun} of key {model.key_id or "(none)"} in "{model.organization}"'

    def identify(self, state: DaemonsState) -> str:
        """Return a constant: the key may change."""
        return "daemons-connected"

    def create_object(self, session: Session, want: DaemonsInputs) -> DaemonsState:
        """Wait for the daemons."""
        if not (want.enabled and want.key_id):
            return _state(want, Seen(), Reason.NOT_ENTITLED)
        return _state(want, self._wait(session, want))

    def update_object(
        self, session: Session, want: DaemonsInputs, known: DaemonsState
    ) -> DaemonsState:
        """Wait again; without entitlement there is nothing to wait for."""
        if not (want.enabled and want.key_id):
            return _state(want, _seen(known), Reason.NOT_ENTITLED)
        return _state(want, self._wait(session, want))

    def observe(self, session: Session, known: DaemonsState) -> DaemonsState | None:
        """Count again. Too few daemons are a condition, no drift: there is nothing to apply."""
        if not known.key_id:
            return known
        try:
            listed = session.cached(answers.daemons_in(known.organization))
        except NotEntitled:
            return _state(known, _seen(known), Reason.NOT_ENTITLED)
        except NotFound:
            # The organization was renamed, or is hidden: the key's own refresh says which (K10).
            return _state(known, _seen(known), Reason.NOT_FOUND)
        reason = "" if known.enabled else Reason.NOT_ENTITLED
        return _state(known, look(listed, known.key_id, _expected(session, known)), reason)

    def _wait(self, session: Session, want: DaemonsInputs) -> Seen:
        end = time.monotonic() + want.timeout_seconds
        prefix = self._newest_pods(want)
        said = -1
        while True:
            try:
                listed = session.fail_fast.daemons_by_key(want.organization)
                seen = look(listed, want.key_id, _expected(session, want), prefix)
            except CoderdError as error:
                if error.permanent or time.monotonic() >= end:
                    raise
                seen = Seen()
            if seen.count >= want.minimum:
                return seen
            if seen.count != said:
                inform(f"{self.label(want)}: {seen.count} of {want.minimum} connected, waiting")
                said = seen.count
            left = end - time.monotonic()
            if left <= 0:
                why = (
                    f"{seen.count} of {want.minimum} have connected within "
                    f"{want.timeout_seconds:g} s; look into the logs of the provisioner's pods."
                )
                raise Failed(Reason.PENDING, self.label(want), "wait", why)
            time.sleep(min(_PAUSE, left))

    def _newest_pods(self, want: DaemonsInputs) -> str:
        """Return the prefix of their names; empty if unknown: then all daemons count.

        Components may stand in a cluster that only Pulumi's own provider reaches.
        """
        if want.rollout is None or not want.minimum:
            return ""
        try:
            return newest_pods(want.rollout, self._config.kubernetes)
        except CoderdError as error:
            warn(f"{self.label(want)}: daemons of earlier pods count as well: {error}")
            return ""


class DaemonsConnected(CoderdResource, descriptor=DAEMONS_CONNECTED):
    """Depends on the Deployment whose pods hold the key."""

    count: pulumi.Output[int]
    versions: pulumi.Output[list[str]]
    skewed: pulumi.Output[list[str]]
    connected: pulumi.Output[bool]
    reason: pulumi.Output[str]

    def __init__(
        self,
        resource_name: str,
        *,
        connection: pulumi.Input[Mapping[str, Any]],
        organization: pulumi.Input[str],
        key_id: pulumi.Input[str],
        minimum: pulumi.Input[int] = 1,
        timeout_seconds: float | None = None,
        expected_version: pulumi.Input[str] | None = None,
        revision: pulumi.Input[str] | None = None,
        rollout: pulumi.Input[Mapping[str, Any] | None] | None = None,
        enabled: pulumi.Input[bool] = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {
            "connection": connection,
            "organization": organization,
            "key_id": key_id,
            "minimum": minimum,
            "timeout_seconds": timeout_seconds,
            "expected_version": expected_version,
            "revision": revision,
            "rollout": rollout,
            "enabled": enabled,
        }
        super().__init__(DaemonsConnectedProvider(), resource_name, props, opts)


def _expected(session: Session, inputs: DaemonsInputs) -> str:
    """Return coderd's current version: it may have been upgraded."""
    return inputs.expected_version or session.cached(answers.BUILD).version


def _release(version: str) -> str:
    return version.partition("+")[0]


def _seen(state: DaemonsState) -> Seen:
    return Seen(count=state.count, versions=state.versions, skewed=state.skewed)


def _state(inputs: DaemonsInputs, seen: Seen, reason: str = "") -> DaemonsState:
    connected = seen.count >= inputs.minimum and not reason
    facts = {"connected": connected, "reason": reason}
    return DaemonsState.model_validate({**dict(inputs), **dict(seen), **facts})
