"""One watcher for each stack: a Lease in coderd's cluster says which one runs (N1).

Pulumi's lock keeps two repairs apart anyway; the Lease keeps a second watcher from starting at all.
A holder that was killed stops renewing, and the next one takes over. Without the right to write
Leases a watcher runs without one.
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
_NEW_CONNECTION_SECONDS = 300.0


class _Lease(FrozenModel):
    version: str = Field(validation_alias=AliasPath("metadata", "resourceVersion"))
    holder: str = Field(default="", validation_alias=AliasPath("spec", "holderIdentity"))
    acquired: str = Field(default="", validation_alias=AliasPath("spec", "acquireTime"))

    @property
    def who(self) -> str:
        """Name its holder for people."""
        return self.holder.rpartition(" ")[0]


class _TakenOverError(Exception):
    """Somebody else holds the Lease."""


@dataclass
class Lease:
    """The Lease of one stack, held from `acquire` to `release`."""

    cluster: Kubeconfig
    namespace: str
    name: str
    stack: str
    seconds: int = _SECONDS
    renew_seconds: float = _RENEW_SECONDS
    lost: bool = False
    """Whether another watcher has taken over."""
    _me: str = field(
        default_factory=lambda: f"{socket.gethostname()} pid {os.getpid()} {secrets.token_hex(3)}"
    )
    _version: str = ""
    _since: str = ""
    _ended: threading.Event = field(default_factory=threading.Event)

    def acquire(self, check: Callable[[], None], say: Callable[[str], None]) -> bool:
        """Take the Lease; return whether there is one.

        Raise OperationError if another watcher keeps renewing it. `check` is called while waiting,
        and may raise; `say` is told what is waited for.
        """
        try:
            with connected(self.cluster, Kubeconfig(), _OPERATION) as http:
                self._wait_for_others(http, check, say)
                self._since = _now()
                self._write(http)
        except CoderdError:
            return False
        except _TakenOverError:
            raise self._another(self._read_holder()) from None
        threading.Thread(target=self._keep, name="lease", daemon=True).start()
        return True

    def release(self) -> None:
        """Delete the Lease, so that the next watcher need not wait."""
        if not self._version or self.lost:
            return
        self._ended.set()
        with suppress(CoderdError), connected(self.cluster, Kubeconfig(), _OPERATION) as http:
            send(http, _OPERATION, (*self._path, self.name), method="DELETE")

    def _wait_for_others(
        self, http: Any, check: Callable[[], None], say: Callable[[str], None]
    ) -> None:
        """Return once nobody holds it, or its holder has not renewed it for its time."""
        first = self._read(http)
        end = time.monotonic() + self.seconds
        if first is not None and first.holder:
            say(f"waiting up to {self.seconds} s for the Lease of {first.who}")
        while first is not None and first.holder and time.monotonic() < end:
            check()
            time.sleep(_POLL_SECONDS)
            now = self._read(http)
            if now is None or not now.holder:
                break
            if now.version != first.version:
                raise self._another(now)

    def _keep(self) -> None:
        while not self._ended.is_set():
            with suppress(CoderdError):
                self._renew_for_a_while()
            self._ended.wait(self.renew_seconds)

    def _renew_for_a_while(self) -> None:
        """Renew over one connection; a new one reads the kubeconfig and its token again."""
        end = time.monotonic() + _NEW_CONNECTION_SECONDS
        with connected(self.cluster, Kubeconfig(), _OPERATION) as http:
            while time.monotonic() < end and not self._ended.wait(self.renew_seconds):
                try:
                    self._write(http)
                except _TakenOverError:
                    found = self._read(http)
                    if found is not None and found.holder != self._me:
                        self.lost = True
                        self._ended.set()
                        return
                    self._version = found.version if found else ""

    def _read(self, http: Any) -> _Lease | None:
        status, body = send(http, _OPERATION, (*self._path, self.name))
        if status == 404:
            self._version = ""
            return None
        if status != 200:
            raise refused(_OPERATION, status, "get and patch Leases")
        found = _parsed(body)
        self._version = found.version
        return found

    def _write(self, http: Any) -> None:
        metadata = {"name": self.name, "namespace": self.namespace}
        if self._version:
            metadata["resourceVersion"] = self._version
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": {
                "holderIdentity": self._me,
                "leaseDurationSeconds": self.seconds,
                "acquireTime": self._since,
                "renewTime": _now(),
            },
        }
        query = {"fieldManager": "coder-stack-watch", "force": "true"}
        status, body = send(
            http, _OPERATION, (*self._path, self.name), method="PATCH", query=query, apply=lease
        )
        if status == 409:
            raise _TakenOverError
        if status not in (200, 201):
            raise refused(_OPERATION, status, "get and patch Leases")
        self._version = _parsed(body).version

    def _read_holder(self) -> _Lease:
        with connected(self.cluster, Kubeconfig(), _OPERATION) as http:
            return self._read(http) or _Lease.model_validate({"metadata": {"resourceVersion": ""}})

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
