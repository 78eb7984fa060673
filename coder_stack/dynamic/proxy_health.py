"""Whether coderd reaches a running proxy.

A proxy registers within seconds. Coderd calls it `ok` once it has reached the proxy's own URL,
which may need a DNS name that somebody else creates. So this waits for a while, and then goes on
with a warning in coderd's own words (W2): health is a condition and no drift (W1). The health of
earlier pods does not count (P4). Changes nothing in coderd.
"""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import pulumi
from pydantic import Field

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import CoderdError, NotEntitled
from coder_stack.coderd.models import ProxyRecord
from coder_stack.coderd.own_words import own_words
from coder_stack.console import warn
from coder_stack.descriptors import PROXY_HEALTH
from coder_stack.dynamic.daemons_connected import LONGEST_WAIT
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.props import Props
from coder_stack.dynamic.runtime.provider import CoderdProvider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.runtime.session import SESSIONS, CoderdInputs, Session

_PAUSE = 1.0


class HealthInputs(CoderdInputs):
    """A change of `revision`, such as a hash of the pod template, starts another wait."""

    proxy_id: str = ""
    proxy_name: str = ""
    timeout_seconds: Annotated[float, Field(ge=0, le=LONGEST_WAIT)] = 75.0
    revision: str = ""


class HealthState(HealthInputs):
    """`health` is `ok`, `unreachable`, `unhealthy`, `unregistered`, `unknown` or empty."""

    health: str = ""
    version: str = ""
    report: str = ""
    """Why coderd does not call it `ok`, in coderd's own words."""


class ProxyHealthProvider(CoderdProvider[HealthInputs, HealthState]):
    """Create and update wait for a while; a refresh reads."""

    descriptor = PROXY_HEALTH
    only_reads = True

    def label(self, model: HealthInputs) -> str:
        """Name the proxy."""
        return f'{self.noun}, "{model.proxy_name}"'

    def identify(self, state: HealthState) -> str:
        """Return a constant."""
        return "proxy-health"

    def create_object(self, session: Session, want: HealthInputs) -> HealthState:
        """Wait for a proxy that is registered."""
        return self._wait(session, want) if want.proxy_id else _state(want, None)

    def update_object(
        self, session: Session, want: HealthInputs, known: HealthState
    ) -> HealthState:
        """Wait again; for new pods, until coderd has checked them."""
        if not want.proxy_id:
            return _state(want, None)
        return self._wait(session, want, others=want.revision != known.revision)

    def observe(self, session: Session, known: HealthState) -> HealthState | None:
        """Read the health."""
        if not known.proxy_id:
            return known
        try:
            proxies = session.cached(answers.PROXIES)
        except NotEntitled:
            return known
        return _state(known, _find(proxies, known.proxy_id))

    def is_due(self, olds: Props, news: Props) -> bool:
        """Look whether coderd says better than last time, when it may have been out of reach."""
        try:
            want, known = HealthInputs.model_validate(news), HealthState.model_validate(olds)
            if known.health == "ok" or not want.proxy_id:
                return False
            session = SESSIONS.open(want.connection, self._config, olds)
            found = _find(session.peek(Coderd.workspace_proxies), want.proxy_id)
        except (CoderdError, ValueError):
            return False  # coderd cannot be asked: nothing is known to be better
        return found is not None and found.status.status == "ok"

    def _wait(self, session: Session, want: HealthInputs, *, others: bool = False) -> HealthState:
        """Poll. With `others` the first answer is about earlier pods, and does not count.

        Coderd checks a proxy once a minute, and when it registers; `checked_at` tells when.
        """
        end = time.monotonic() + want.timeout_seconds
        earlier: datetime | None = None
        while True:
            try:
                found = _find(session.fail_fast.workspace_proxies(), want.proxy_id)
            except CoderdError as error:
                if error.permanent:
                    raise
                found = None
            if others and earlier is None and found:
                earlier = found.status.checked_at
            now = _state(want, found)
            if found and earlier and found.status.checked_at == earlier:
                now = now.model_copy(update={"health": "unknown", "report": ""})
            if now.health == "ok":
                return now
            if time.monotonic() >= end:
                said = now.health or "not there"
                why = f" ({now.report})" if now.report else ""
                warn(f"{self.label(want)}: {said} after {want.timeout_seconds:g} s{why}; going on.")
                return now
            time.sleep(_PAUSE)


def _find(proxies: tuple[ProxyRecord, ...], proxy_id: str) -> ProxyRecord | None:
    return next((p for p in proxies if str(p.id) == proxy_id and not p.deleted), None)


def _state(inputs: HealthInputs, found: ProxyRecord | None) -> HealthState:
    wanted = {name: getattr(inputs, name) for name in HealthInputs.model_fields}
    if found is None:
        return HealthState.model_validate(wanted)
    seen = {
        "health": found.status.status,
        "version": found.version,
        "report": own_words(found.status.report.errors),
    }
    return HealthState.model_validate({**wanted, **seen})


class ProxyHealth(CoderdResource, descriptor=PROXY_HEALTH):
    """Depends on the Deployment whose pods hold the token."""

    health: pulumi.Output[str]
    version: pulumi.Output[str]
    report: pulumi.Output[str]

    def __init__(
        self,
        resource_name: str,
        *,
        connection: pulumi.Input[Mapping[str, Any]],
        proxy_id: pulumi.Input[str],
        proxy_name: pulumi.Input[str],
        timeout_seconds: float | None = None,
        revision: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {
            "connection": connection,
            "proxy_id": proxy_id,
            "proxy_name": proxy_name,
            "timeout_seconds": timeout_seconds,
            "revision": revision,
        }
        super().__init__(ProxyHealthProvider(), resource_name, props, opts)
