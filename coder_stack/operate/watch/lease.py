"""One watcher for each stack: a Lease in the stack's cluster says which one runs (N1).

Pulumi's lock keeps two repairs apart anyway; the Lease keeps a second watcher from starting at all.
A holder that was killed stops renewing, and the next one takes over. Without the right to write
Leases a watcher runs without one; without an answer it runs, and goes on trying.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import AliasPath, Field, ValidationError

from coder_stack.cluster.client import connected, refused, send
from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.coderd.errors import CoderdError
from coder_stack.frozen_model import FrozenModel
from coder_stack.operate.engine.errors import OperationError

_OPERATION = "keep the watcher's Lease"
_SECONDS = 30
"""How long a Lease counts after its last renewal."""
_RENEW_SECONDS = 10.0
_POLL_SECONDS = 1.0
_LAST_RENEWAL_SECONDS = 2.0
_MANAGER = "coder-stack-watch"
_NEW_CONNECTION_SECONDS = 300.0


class _Lease(FrozenModel):
    version: str = Field(validation_alias=AliasPath("metadata", "resourceVersion"))
    holder: str = Field(default="", validation_alias=AliasPath("spec", "holderIdentity"))
    acquired: str = Field(default="", validation_alias=AliasPath("spec", "acquireTime"))

    @property
    def who(self) -> str:
        """Name its holder for people."""
        return self.holder.rpartition(" ")[0]


@dataclass
class Lease:
    """The Lease of one stack, held from `acquire` to `release`.

    `acquire` and then a thread of its own write it, one after the other.
    """

    cluster: Kubeconfig
    namespace: str
    name: str
    stack: str
    seconds: int = _SECONDS
    renew_seconds: float = _RENEW_SECONDS
    lost: OperationError | None = None
    """The error to end with, once another watcher holds it."""
    _host: str = field(default_factory=lambda: f"{socket.gethostname()} pid {os.getpid()}")
    _id: str = field(default_factory=lambda: secrets.token_hex(3))
    _version: str = ""
    """That of the Lease as it was written last; empty while it is not ours."""
    _since: str = ""
    """When it was written first; empty if it never was."""
    _other: _Lease | None = None
    """Somebody else's as it was seen first, and when that was."""
    _other_seen_at: float = 0.0
    _answered_at: float = 0.0
    """When the Lease was last read or written without an error."""
    _keeper: threading.Thread | None = None
    _ended: threading.Event = field(default_factory=threading.Event)

    def acquire(self, check: Callable[[], None], say: Callable[[str], None]) -> bool:
        """Take the Lease; return whether it is ours now.

        Raise OperationError if another watcher keeps renewing it. `check` is called while waiting,
        and may raise; `say` is told what is waited for.
        """
        self._answered_at = time.monotonic()
        told = {""}

        def wait(what: str) -> None:
            if what not in told:
                say(f"waiting up to {self.seconds} s for {what}")
            told.add(what)
            check()
            time.sleep(_POLL_SECONDS)

        def is_ours() -> bool:
            if not self._version:
                wait(f"the Lease of {self._other.who}" if self._other else "")
            return bool(self._version)

        while not self._version:
            try:
                self._repeat(is_ours)
            except CoderdError as error:
                if error.permanent:
                    return False  # no right, or no way: waiting does not help
                if time.monotonic() - self._answered_at > self.seconds:
                    break
                wait("the API server, which has the Lease")
        is_held = bool(self._version)
        self._keeper = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._keeper.start()
        return is_held

    def release(self) -> None:
        """Delete the Lease if it is ours, so that the next watcher need not wait."""
        self._ended.set()
        if self._keeper is not None:
            self._keeper.join(_LAST_RENEWAL_SECONDS)  # it would write the Lease again
        if not self._since:
            return
        with suppress(CoderdError), connected(self.cluster, Kubeconfig(), _OPERATION) as http:
            found = self._read(http)
            if found is not None and found.holder == self._me:
                send(http, _OPERATION, (*self._path, self.name), method="DELETE")

    def raise_if_lost(self) -> None:
        """Raise OperationError if another watcher holds the Lease."""
        if self.lost is not None:
            raise self.lost

    def _keep(self) -> None:
        while not self._ended.is_set():
            try:
                self._repeat(lambda: self._ended.wait(self.renew_seconds))
            except CoderdError:
                self._ended.wait(self.renew_seconds)
            except OperationError as error:
                self.lost = error
                self._ended.set()

    def _repeat(self, is_over: Callable[[], bool]) -> None:
        """Take and renew it over one connection until `is_over`, which waits.

        Return after some minutes: a new connection reads the kubeconfig and its token again.
        """
        end = time.monotonic() + _NEW_CONNECTION_SECONDS
        with connected(self.cluster, Kubeconfig(), _OPERATION) as http:
            while time.monotonic() < end:
                self._take_or_renew(http)
                if is_over():
                    return

    def _take_or_renew(self, http: Any) -> None:
        """Write the Lease, unless another watcher may be alive.

        Raise OperationError if it is alive, as its Lease has changed. It is dead once its Lease has
        stayed the same for `seconds`. If a write fails because another one was faster, the next
        call reads who that was.
        """
        if not (self._version and self._write(http, self._version)):
            self._take(http)
        self._answered_at = time.monotonic()

    def _take(self, http: Any) -> None:
        found = self._read(http)
        if found is None or found.holder in ("", self._me):
            self._write(http, found.version if found else "")
        elif self._since:
            raise self._taken_over
        elif self._other is None:
            self._other, self._other_seen_at = found, time.monotonic()
        elif found.version != self._other.version:
            raise self._another(found)
        elif time.monotonic() - self._other_seen_at >= self.seconds:
            self._write(http, found.version)

    def _read(self, http: Any) -> _Lease | None:
        status, body = send(http, _OPERATION, (*self._path, self.name))
        if status == 404:
            return None
        if status != 200:
            raise refused(_OPERATION, status, "get and patch Leases")
        return _parsed(body)

    def _write(self, http: Any, version: str) -> bool:
        """Write it over that version, or create it; return False if somebody else was faster."""
        metadata = {"name": self.name, "namespace": self.namespace}
        now = _now()
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {**metadata, "resourceVersion": version} if version else metadata,
            "spec": {
                "holderIdentity": self._me,
                "leaseDurationSeconds": self.seconds,
                "acquireTime": self._since or now,
                "renewTime": now,
            },
        }
        query = {"fieldManager": _MANAGER, "force": "true"}
        if not version:
            # Without `force`, a holder that another field manager has set is a conflict (409). So
            # of two that create the Lease at once, one wins.
            query = {"fieldManager": f"{_MANAGER}-{self._id}"}
        self._version = ""
        status, body = send(
            http, _OPERATION, (*self._path, self.name), method="PATCH", query=query, apply=lease
        )
        if status == 409 or (status == 404 and version):
            return False
        if status not in (200, 201):
            raise refused(_OPERATION, status, "get and patch Leases")
        self._version, self._since = _parsed(body).version, self._since or now
        return True

    @property
    def _me(self) -> str:
        return f"{self._host} {self._id}"

    @property
    def _taken_over(self) -> OperationError:
        return OperationError(
            f"Another watcher of stack `{self.stack}` has taken over, as this one had not renewed "
            "its Lease in time.",
            "Start one watcher only.",
            "coder-stack watch --stack {stack}",
        )

    def _another(self, lease: _Lease) -> OperationError:
        since = lease.acquired[:19]
        return OperationError(
            f"Another watcher of stack `{self.stack}` runs ({lease.who}, since {since}Z).",
            "End it first; it repairs for both.",
            f"kubectl --namespace {self.namespace} get lease {self.name} --output yaml",
        )

    @property
    def _path(self) -> tuple[str, ...]:
        return ("apis", "coordination.k8s.io", "v1", "namespaces", self.namespace, "leases")


def _parsed(body: bytes) -> _Lease:
    try:
        return _Lease.model_validate_json(body)
    except ValidationError:
        raise refused(_OPERATION, 200, "get and patch Leases") from None


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
