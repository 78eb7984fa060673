"""Start, stop and inspect the cluster of one sandbox.

Every function may be repeated, also after a kill: there is one lock per sandbox, and processes are
found by their pid files. A cluster that runs in part is restarted. It keeps its data if it has been
ready once: etcd cannot use data whose creation was interrupted. The user's KUBECONFIG is not read.
CODER_STACK_KUBECONFIG selects another cluster; then nothing is started.
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
from sandbox.cluster.process import ClusterProcess, start_detached, stop
from sandbox.errors import SandboxError
from sandbox.paths import CHECKOUT, SandboxPaths

EXTERNAL = "CODER_STACK_KUBECONFIG"
_START_DEADLINE = 90.0
_STARTS = 5
_LOCK_DEADLINE = 180.0

Say = Callable[[str], None]


class _PortLostError(SandboxError):
    """Another process has taken a port after it was chosen."""


@dataclass(frozen=True)
class ClusterStatus:
    """The current state of the cluster."""

    kind: Literal["own", "external"]
    kubeconfig: Path
    ready: bool
    parts: dict[str, int | None]
    logs: Path
    coderd: str = ""
    """URL of the simulated coderd, if there is one."""


def external_kubeconfig() -> Path | None:
    """Return the kubeconfig in CODER_STACK_KUBECONFIG, if it is set."""
    named = os.environ.get(EXTERNAL)
    if not named:
        return None
    path = Path(named).expanduser().resolve()
    if not path.is_file():
        raise SandboxError(f"{EXTERNAL} names {path}, which is not a file")
    return path


def up(
    paths: SandboxPaths,
    programs: Mapping[str, Path],
    port: int | None = None,
    say: Say = print,
    *,
    with_pods: bool = False,
    home: SandboxPaths | None = None,
) -> Path:
    """Start the cluster, wait until it can run pods, and return its kubeconfig.

    `with_pods` also simulates coderd, daemons and proxies in the pods. `home` is the running
    cluster whose coderd they use instead of one of their own.
    """
    if other := external_kubeconfig():
        paths.folder.mkdir(parents=True, exist_ok=True)
        _link(paths.kubeconfig, other)
        say(f"using the cluster of {EXTERNAL}={other}; none is started here")
        return paths.kubeconfig
    with _locked(paths):
        coderd = ports.load(home.cluster).coderd if home else None
        known = ports.load(paths.cluster)
        if _is_running(paths) and known.match(port, with_pods=with_pods, coderd=coderd):
            say("cluster is up")
            return paths.kubeconfig
        started = time.monotonic()
        left = stop(_parts(paths))
        if left:
            say(f"stopped processes of an earlier run: {', '.join(left)}")

        def new_layout() -> Layout:
            free = ports.choose(paths.cluster, port, with_pods=with_pods, coderd=coderd)
            return Layout(paths.cluster, free, dict(programs), home.cluster if home else None)

        layout = _started(paths, new_layout, say)
        say(f"cluster is up after {time.monotonic() - started:.1f} s, API at {layout.server}")
        return paths.kubeconfig


def down(paths: SandboxPaths, *, keep: bool = False) -> list[str]:
    """Stop the cluster and a second one in its folder, and return what was running.

    The data is deleted unless `keep`.
    """
    if not paths.folder.exists():
        return []
    with _locked(paths):
        stopped = [
            f"{name} of {paths.second.folder.name}" for name in _down_second(paths, keep=keep)
        ]
        stopped += stop(_parts(paths))
        if not keep:
            shutil.rmtree(paths.cluster, ignore_errors=True)
            paths.kubeconfig.unlink(missing_ok=True)
    return stopped


def down_with_folder(paths: SandboxPaths) -> list[str]:
    """Stop the cluster, and delete everything that it has on this machine."""
    stopped = down(paths)
    shutil.rmtree(paths.folder, ignore_errors=True)
    return stopped


def _down_second(paths: SandboxPaths, *, keep: bool) -> list[str]:
    return down(paths.second, keep=True) if keep else down_with_folder(paths.second)


def status(paths: SandboxPaths) -> ClusterStatus:
    """Return the state of the cluster without changing it."""
    if other := external_kubeconfig():
        return ClusterStatus("external", other, other.is_file(), {}, paths.logs)
    known = ports.load(paths.cluster)
    pids = {
        part.name: (process.pid if (process := part.process()) else None)
        for part in _parts(paths)
        if part.name != PODS or known.with_pods
    }
    coderd = f"http://127.0.0.1:{known.coderd}" if known.with_pods else ""
    return ClusterStatus("own", paths.kubeconfig, _is_running(paths), pids, paths.logs, coderd)


def stop_after_process(paths: SandboxPaths, pid: int) -> None:
    """Stop and delete the cluster as soon as that process has ended."""
    guard = [sys.executable, "-m", "sandbox.cluster.guard", str(pid), str(paths.folder)]
    start_detached(guard, CHECKOUT)


@contextmanager
def _locked(paths: SandboxPaths) -> Generator[None]:
    paths.folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(paths.folder / "lock", timeout=_LOCK_DEADLINE)
    try:
        lock.acquire()
    except Timeout:
        raise SandboxError(
            f"another command has been working on {paths.folder} for {_LOCK_DEADLINE:.0f} s; "
            "wait for it or end it, then try again"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _parts(paths: SandboxPaths) -> list[ClusterProcess]:
    return [ClusterProcess(name, paths.cluster) for name in (PODS, *reversed(PARTS))]


def _is_running(paths: SandboxPaths) -> bool:
    if not paths.kubeconfig.exists() or paths.kubeconfig.is_symlink():
        return False
    with_pods = ports.load(paths.cluster).with_pods
    if not all(part.process() for part in _parts(paths) if part.name != PODS or with_pods):
        return False
    with api.client(paths.kubeconfig) as http:
        return api.is_ready(http) and api.can_run_pods(http)


def _started(paths: SandboxPaths, new_layout: Callable[[], Layout], say: Say) -> Layout:
    """Start the cluster; choose other ports if another process has taken one meanwhile."""
    lost = 0
    while True:
        layout = new_layout()
        if not layout.ready_marker.exists():
            shutil.rmtree(layout.data, ignore_errors=True)
        _prepare(paths, layout)
        try:
            _start(paths, layout, say)
        except _PortLostError as error:
            lost += 1
            if lost == _STARTS:
                raise
            say(f"starting again on other ports: {error}")
        else:
            layout.ready_marker.touch()
            return layout


def _prepare(paths: SandboxPaths, layout: Layout) -> None:
    layout.pki.ensure()
    ports.save(paths.cluster, layout.ports)
    layout.egress.write_text(layout.egress_selection())
    tokens = _tokens(layout)
    for identity, token in tokens.items():
        private_file.write(layout.kubeconfig_of(identity), layout.kubeconfig(token).encode())
    paths.kubeconfig.unlink(missing_ok=True)
    private_file.write(paths.kubeconfig, layout.kubeconfig(tokens["admin"]).encode())


def _tokens(layout: Layout) -> dict[str, str]:
    """Return a token per identity; reuse stored ones, so that clients survive a restart."""
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


def _start(paths: SandboxPaths, layout: Layout, say: Say) -> None:
    deadline = time.monotonic() + _START_DEADLINE
    parts = {name: ClusterProcess(name, paths.cluster) for name in (*PARTS, PODS)}
    running: list[ClusterProcess] = []

    def check_running() -> None:
        for part in running:
            if part.process() is None:
                error = _PortLostError if part.found_port_in_use() else SandboxError
                raise error(f"{part.name} ended while it started: {part.last_log_line()}")

    def start(name: str) -> None:
        parts[name].start(layout.command(name))
        running.append(parts[name])

    try:
        if layout.ports.with_pods:
            # First: it takes a second to load, and is needed last.
            start(PODS)
        start("etcd")
        api.wait_until("etcd", lambda: ports.listens(layout.ports.etcd), deadline, check_running)
        start("kube-apiserver")
        say("waiting for the API server")
        with api.client(paths.kubeconfig) as http:
            api.wait_until("the API server", lambda: api.is_ready(http), deadline, check_running)
            api.ensure_node(http)
            for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
                start(name)
            say("waiting for the controllers and the node")
            api.wait_until("a ready node", lambda: api.can_run_pods(http), deadline, check_running)
        if layout.ports.with_pods:
            inside = (layout.ports.network, layout.ports.coderd)
            api.wait_until(
                "coderd", lambda: all(map(ports.listens, inside)), deadline, check_running
            )
    except BaseException:
        stop(_parts(paths))
        raise
