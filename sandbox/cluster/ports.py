"""Choose free ports on 127.0.0.1 for one cluster, and store them.

A restarted cluster uses the same ports again if they are free.
"""

import json
import socket
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox.errors import SandboxError

_RETRY_SECONDS = 3.0


@dataclass(frozen=True)
class Ports:
    """The port of each process."""

    api: int
    etcd: int
    etcd_peer: int
    kwok: int
    network: int = 0
    """Of the pod network, and below of coderd in it; 0 if nothing is simulated in the pods."""
    coderd: int = 0
    """In a second cluster, the port of the first one's coderd."""

    @property
    def with_pods(self) -> bool:
        """Return whether programs are simulated in the pods."""
        return bool(self.network)

    def match(self, api: int | None, *, with_pods: bool, coderd: int | None = None) -> bool:
        """Return whether a cluster with these ports is as requested."""
        same_coderd = coderd in (None, self.coderd)
        return api in (None, self.api) and with_pods == self.with_pods and same_coderd


def load(folder: Path) -> Ports:
    """Return the stored ports; all zero if there are none."""
    try:
        return Ports(**json.loads(_file(folder).read_text()))
    except (OSError, ValueError, TypeError):
        return Ports(api=0, etcd=0, etcd_peer=0, kwok=0)


def save(folder: Path, ports: Ports) -> None:
    """Store the ports."""
    _file(folder).write_text(json.dumps(asdict(ports)))


def choose(folder: Path, api: int | None, *, with_pods: bool, coderd: int | None = None) -> Ports:
    """Return the stored ports if they are free, else others; fail if `api` is not free.

    `coderd` is the port of a coderd that runs elsewhere.
    """
    before = asdict(load(folder))
    chosen = {"coderd": coderd} if coderd else {}
    inside = ("network", "coderd") if with_pods else ()
    with ExitStack() as held:
        for name in ("api", "etcd", "etcd_peer", "kwok", *inside):
            if name not in chosen:
                fixed = api if name == "api" else None
                chosen[name] = _take(held, fixed, before[name])
    return Ports(**chosen)


def listens(port: int) -> bool:
    """Return whether a process listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _file(folder: Path) -> Path:
    return folder / "ports.json"


def _take(held: ExitStack, fixed: int | None, preferred: int) -> int:
    if fixed is not None:
        try:
            return _bind(held, fixed)
        except OSError as error:
            raise SandboxError(
                f"port {fixed} on 127.0.0.1 cannot be used ({error.strerror}); "
                "choose another one, or leave --port out"
            ) from None
    # The kernel may need a moment to close the sockets of a killed process.
    deadline = time.monotonic() + _RETRY_SECONDS
    while True:
        try:
            return _bind(held, preferred)
        except OSError:
            if time.monotonic() > deadline:
                return _bind(held, 0)
            time.sleep(0.1)


def _bind(held: ExitStack, port: int) -> int:
    probe = held.enter_context(socket.socket())
    # The processes set this too: after a restart, a port in TIME_WAIT is free.
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", port))
    return probe.getsockname()[1]
