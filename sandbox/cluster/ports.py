"""The ports of one cluster, all on 127.0.0.1: chosen free, remembered, taken again if they can be.

A restarted cluster so keeps its address. Knows nothing of what listens there.
"""

import json
import socket
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox.errors import SandboxError

_PATIENCE = 3.0


@dataclass(frozen=True)
class Ports:
    """Which part listens where."""

    api: int
    etcd: int
    etcd_peer: int
    kwok: int
    network: int = 0
    """Of the pod network and of coderd inside it; 0 if nothing runs inside the pods."""
    coderd: int = 0

    @property
    def played(self) -> bool:
        """Whether something runs inside the pods."""
        return bool(self.network)

    def suit(self, api: int | None, *, played: bool) -> bool:
        """Whether a cluster with these ports is the one that was asked for."""
        return api in (None, self.api) and played == self.played


def recorded(folder: Path) -> Ports:
    """Those of last time; all zero if nobody knows."""
    try:
        return Ports(**json.loads(_file(folder).read_text()))
    except (OSError, ValueError, TypeError):
        return Ports(api=0, etcd=0, etcd_peer=0, kwok=0)


def record(folder: Path, ports: Ports) -> None:
    """Remember them."""
    _file(folder).write_text(json.dumps(asdict(ports)))


def choose(folder: Path, api: int | None, *, played: bool) -> Ports:
    """Those of last time where they are free, else any; a port that was asked for, or an error."""
    before = asdict(recorded(folder))
    chosen: dict[str, int] = {}
    inside = ("network", "coderd") if played else ()
    with ExitStack() as held:
        for name in ("api", "etcd", "etcd_peer", "kwok", *inside):
            fixed = api if name == "api" else None
            chosen[name] = _take(held, fixed, before[name])
    return Ports(**chosen)


def listens(port: int) -> bool:
    """Whether somebody does."""
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
    # A killed process may need a moment until the kernel has closed its sockets.
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return _bind(held, preferred)
        except OSError:
            if time.monotonic() > deadline:
                return _bind(held, 0)
            time.sleep(0.1)


def _bind(held: ExitStack, port: int) -> int:
    probe = held.enter_context(socket.socket())
    # The parts set this too: after a restart a port in TIME_WAIT counts as free.
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", port))
    return probe.getsockname()[1]
