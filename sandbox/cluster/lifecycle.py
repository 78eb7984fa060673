"""Start, stop and look at the cluster of one sandbox.

Safe to call twice and after a kill: one lock per sandbox, parts are found again by their pid files,
and a cluster that is not whole is stopped and started again on its old data, if it ever was whole:
etcd cannot go on with data that it was killed over while it made them. Never reads the user's
KUBECONFIG or current context; only an explicit CODER_STACK_KUBECONFIG puts the sandbox on another
cluster, and then nothing is started here.
"""

import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from sandbox.cluster import api, ports, private_file
from sandbox.cluster.layout import IDENTITIES, PARTS, PODS, Layout
from sandbox.cluster.process import Part, start_detached, stop
from sandbox.errors import SandboxError
from sandbox.home import CHECKOUT, Home

EXTERNAL = "CODER_STACK_KUBECONFIG"
_START_DEADLINE = 90.0
_STARTS = 5
_LOCK_DEADLINE = 180.0

Say = Callable[[str], None]


class _PortLostError(SandboxError):
    """A port that was free when it was chosen was somebody else's when the part came to it."""


@dataclass(frozen=True)
class Status:
    """What there is right now."""

    kind: Literal["own", "external"]
    kubeconfig: Path
    ready: bool
    parts: dict[str, int | None]
    logs: Path
    coderd: str = ""
    """URL of the simulated coderd inside the pods, if there is one."""


def external_kubeconfig() -> Path | None:
    """The other cluster's kubeconfig, if the user asked for one."""
    named = os.environ.get(EXTERNAL)
    if not named:
        return None
    path = Path(named).expanduser().resolve()
    if not path.is_file():
        raise SandboxError(f"{EXTERNAL} names {path}, which is not a file")
    return path


def up(
    home: Home,
    programs: Mapping[str, Path],
    port: int | None = None,
    say: Say = print,
    *,
    played: bool = False,
) -> Path:
    """Have a cluster that takes pods; returns its kubeconfig.

    With `played`, something runs inside the pods: the simulated coderd, daemons and proxies.
    """
    if other := external_kubeconfig():
        home.folder.mkdir(parents=True, exist_ok=True)
        _link(home.kubeconfig, other)
        say(f"using the cluster of {EXTERNAL}={other}; none is started here")
        return home.kubeconfig
    with _locked(home):
        if _whole(home) and ports.recorded(home.cluster).suit(port, played=played):
            say("cluster is up")
            return home.kubeconfig
        started = time.monotonic()
        left = stop(_parts(home))
        if left:
            say(f"stopped what an earlier run left behind: {', '.join(left)}")
        layout = _started(home, programs, port, say, played=played)
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
    known = ports.recorded(home.cluster)
    pids = {
        part.name: (process.pid if (process := part.process()) else None)
        for part in _parts(home)
        if part.name != PODS or known.played
    }
    coderd = f"http://127.0.0.1:{known.coderd}" if known.played else ""
    return Status("own", home.kubeconfig, _whole(home), pids, home.logs, coderd)


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
    return [Part(name, home.cluster) for name in (PODS, *reversed(PARTS))]


def _whole(home: Home) -> bool:
    if not home.kubeconfig.exists() or home.kubeconfig.is_symlink():
        return False
    played = ports.recorded(home.cluster).played
    if not all(part.process() for part in _parts(home) if part.name != PODS or played):
        return False
    with api.client(home.kubeconfig) as http:
        return api.answers(http) and api.takes_pods(http)


def _started(
    home: Home, programs: Mapping[str, Path], port: int | None, say: Say, *, played: bool
) -> Layout:
    """Start on ports that are free, and on others when one was lost before its part came to it."""
    lost = 0
    while True:
        free = ports.choose(home.cluster, port, played=played)
        layout = Layout(home.cluster, free, dict(programs))
        if not layout.was_whole.exists():
            shutil.rmtree(layout.data, ignore_errors=True)
        _prepare(home, layout)
        try:
            _start(home, layout, say)
        except _PortLostError as error:
            lost += 1
            if lost == _STARTS:
                raise
            say(f"starting again on other ports: {error}")
        else:
            layout.was_whole.touch()
            return layout


def _prepare(home: Home, layout: Layout) -> None:
    layout.pki.ensure()
    ports.record(home.cluster, layout.ports)
    layout.egress.write_text(layout.egress_selection())
    tokens = _tokens(layout)
    for identity, token in tokens.items():
        private_file.write(layout.kubeconfig_of(identity), layout.kubeconfig(token).encode())
    home.kubeconfig.unlink(missing_ok=True)
    private_file.write(home.kubeconfig, layout.kubeconfig(tokens["admin"]).encode())


def _tokens(layout: Layout) -> dict[str, str]:
    """Made once: clients keep working across restarts."""
    kept = layout.tokens.read_text() if layout.tokens.exists() else ""
    known = {line.split(",")[2]: line.split(",")[0] for line in kept.splitlines()}
    tokens = {name: known.get(name) or secrets.token_urlsafe(32) for name in IDENTITIES}
    rows = [
        f'{tokens[name]},{user},{name},"{group}"\n' for name, (user, group) in IDENTITIES.items()
    ]
    private_file.write(layout.tokens, "".join(rows).encode())
    return tokens


def _link(path: Path, target: Path) -> None:
    staged = path.with_name(f"{path.name}.new")
    staged.unlink(missing_ok=True)
    staged.symlink_to(target)
    staged.replace(path)


def _start(home: Home, layout: Layout, say: Say) -> None:
    deadline = time.monotonic() + _START_DEADLINE
    parts = {name: Part(name, home.cluster) for name in (*PARTS, PODS)}
    running: list[Part] = []

    def alive() -> None:
        for part in running:
            if part.process() is None:
                error = _PortLostError if part.met_a_taken_port() else SandboxError
                raise error(f"{part.name} ended while it started: {part.last_words()}")

    def start(name: str) -> None:
        parts[name].start(layout.command(name))
        running.append(parts[name])

    try:
        if layout.ports.played:
            # First, since it takes a second to load and nobody needs it until the end.
            start(PODS)
        start("etcd")
        api.wait_until("etcd", lambda: ports.listens(layout.ports.etcd), deadline, alive)
        start("kube-apiserver")
        say("waiting for the API server")
        with api.client(home.kubeconfig) as http:
            api.wait_until("the API server", lambda: api.answers(http), deadline, alive)
            api.ensure_node(http)
            for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
                start(name)
            say("waiting for the controllers and the node")
            api.wait_until("a ready node", lambda: api.takes_pods(http), deadline, alive)
        if layout.ports.played:
            inside = (layout.ports.network, layout.ports.coderd)
            api.wait_until("coderd", lambda: all(map(ports.listens, inside)), deadline, alive)
    except BaseException:
        stop(_parts(home))
        raise
