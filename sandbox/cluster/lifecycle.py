"""Start, stop and look at the cluster of one sandbox.

Safe to call twice and after a kill: one lock per sandbox, parts are found again by their pid files,
and a cluster that is not whole is stopped and started again on its old data. Never reads the user's
KUBECONFIG or current context; only an explicit CODER_STACK_KUBECONFIG puts the sandbox on another
cluster, and then nothing is started here.
"""

import json
import os
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from sandbox.cluster import api, private_file
from sandbox.cluster.layout import IDENTITIES, PARTS, Layout, Ports
from sandbox.cluster.process import Part, start_detached, stop
from sandbox.errors import SandboxError
from sandbox.home import CHECKOUT, Home

EXTERNAL = "CODER_STACK_KUBECONFIG"
_START_DEADLINE = 90.0
_LOCK_DEADLINE = 180.0
_PORT_PATIENCE = 3.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Status:
    """What there is right now."""

    kind: Literal["own", "external"]
    kubeconfig: Path
    ready: bool
    parts: dict[str, int | None]
    logs: Path


def external_kubeconfig() -> Path | None:
    """The other cluster's kubeconfig, if the user asked for one."""
    named = os.environ.get(EXTERNAL)
    if not named:
        return None
    path = Path(named).expanduser().resolve()
    if not path.is_file():
        raise SandboxError(f"{EXTERNAL} names {path}, which is not a file")
    return path


def up(home: Home, programs: Mapping[str, Path], port: int | None = None, say: Say = print) -> Path:
    """Have a cluster that takes pods; returns its kubeconfig."""
    if other := external_kubeconfig():
        home.folder.mkdir(parents=True, exist_ok=True)
        _link(home.kubeconfig, other)
        say(f"using the cluster of {EXTERNAL}={other}; none is started here")
        return home.kubeconfig
    with _locked(home):
        if _whole(home) and port in (None, _recorded(home).api):
            say("cluster is up")
            return home.kubeconfig
        started = time.monotonic()
        left = stop(_parts(home))
        if left:
            say(f"stopped what an earlier run left behind: {', '.join(left)}")
        layout = Layout(home.cluster, _choose_ports(home, port), dict(programs))
        _prepare(home, layout)
        _start(home, layout, say)
        say(f"cluster is up after {time.monotonic() - started:.1f} s, API at {layout.server}")
        return home.kubeconfig


def down(home: Home, *, keep: bool = False) -> list[str]:
    """Stop every part; forget the data unless it is to be kept. Returns who was running."""
    if not home.folder.exists():
        return []
    with _locked(home):
        stopped = stop(_parts(home))
        if not keep:
            shutil.rmtree(home.cluster, ignore_errors=True)
            home.kubeconfig.unlink(missing_ok=True)
    return stopped


def status(home: Home) -> Status:
    """Look, and change nothing."""
    if other := external_kubeconfig():
        return Status("external", other, other.is_file(), {}, home.logs)
    pids = {
        part.name: (process.pid if (process := part.process()) else None) for part in _parts(home)
    }
    return Status("own", home.kubeconfig, _whole(home), pids, home.logs)


def end_with(home: Home, pid: int) -> None:
    """Have the cluster stopped and deleted when that process is gone, however it goes."""
    guard = [sys.executable, "-m", "sandbox.cluster.guard", str(pid), str(home.folder)]
    start_detached(guard, CHECKOUT)


@contextmanager
def _locked(home: Home) -> Generator[None]:
    home.folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(home.folder / "lock", timeout=_LOCK_DEADLINE)
    try:
        lock.acquire()
    except Timeout:
        raise SandboxError(
            f"another command has been working on {home.folder} for {_LOCK_DEADLINE:.0f} s; "
            "wait for it or end it, then try again"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _parts(home: Home) -> list[Part]:
    return [Part(name, home.cluster) for name in reversed(PARTS)]


def _whole(home: Home) -> bool:
    if not home.kubeconfig.exists() or home.kubeconfig.is_symlink():
        return False
    if not all(part.process() for part in _parts(home)):
        return False
    with api.client(home.kubeconfig) as http:
        return api.answers(http) and api.takes_pods(http)


def _ports_file(home: Home) -> Path:
    return home.cluster / "ports.json"


def _recorded(home: Home) -> Ports:
    return Ports(**json.loads(_ports_file(home).read_text()))


def _choose_ports(home: Home, wanted: int | None) -> Ports:
    """The ports of last time where they are free: a restarted cluster keeps its address."""
    try:
        before = asdict(_recorded(home))
    except (OSError, ValueError, TypeError):
        before = {}
    chosen: dict[str, int] = {}
    with ExitStack() as held:
        for name in ("api", "etcd", "etcd_peer", "kwok"):
            fixed = wanted if name == "api" else None
            chosen[name] = _take(held, fixed, before.get(name, 0))
    return Ports(**chosen)


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
    deadline = time.monotonic() + _PORT_PATIENCE
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


def _prepare(home: Home, layout: Layout) -> None:
    layout.pki.ensure()
    _ports_file(home).write_text(json.dumps(asdict(layout.ports)))
    tokens = _tokens(layout)
    for identity, token in tokens.items():
        private_file.write(layout.kubeconfig_of(identity), layout.kubeconfig(token).encode())
    home.kubeconfig.unlink(missing_ok=True)
    private_file.write(home.kubeconfig, layout.kubeconfig(tokens["admin"]).encode())


def _tokens(layout: Layout) -> dict[str, str]:
    """Made once: clients keep working across restarts."""
    if not layout.tokens.exists():
        rows = [
            f'{secrets.token_urlsafe(32)},{user},{name},"{group}"\n'
            for name, (user, group) in IDENTITIES.items()
        ]
        private_file.write(layout.tokens, "".join(rows).encode())
    fields = [line.split(",") for line in layout.tokens.read_text().splitlines()]
    return {name: token for token, _, name, _ in fields}


def _link(path: Path, target: Path) -> None:
    staged = path.with_name(f"{path.name}.new")
    staged.unlink(missing_ok=True)
    staged.symlink_to(target)
    staged.replace(path)


def _start(home: Home, layout: Layout, say: Say) -> None:
    deadline = time.monotonic() + _START_DEADLINE
    parts = {name: Part(name, home.cluster) for name in PARTS}
    running: list[Part] = []

    def alive() -> None:
        for part in running:
            if part.process() is None:
                raise SandboxError(f"{part.name} ended while it started: {part.last_words()}")

    def start(name: str) -> None:
        parts[name].start(layout.command(name))
        running.append(parts[name])

    try:
        start("etcd")
        api.wait_until("etcd", lambda: _listens(layout.ports.etcd), deadline, alive)
        start("kube-apiserver")
        say("waiting for the API server")
        with api.client(home.kubeconfig) as http:
            api.wait_until("the API server", lambda: api.answers(http), deadline, alive)
            api.ensure_node(http)
            for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
                start(name)
            say("waiting for the controllers and the node")
            api.wait_until("a ready node", lambda: api.takes_pods(http), deadline, alive)
    except BaseException:
        stop(_parts(home))
        raise


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
