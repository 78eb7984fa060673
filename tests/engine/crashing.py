"""Kill somebody around each call that changes something, and let the next run carry on.

A `Crashes` is one stack of the real program with a cluster and a coderd of its own, both behind a
wire (tests/tripwire.py). `survive` repeats one command until it gets through: the first time a call
is made somebody is killed before it acts, the second time after it has acted. So the points come
from the requests themselves, and a call that only a recovery makes is hit as well.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Literal

import httpx
import psutil

from sandbox.cluster import api
from sandbox.coderd import storage
from sandbox.coderd.rules.records import Records
from sandbox.coderd.rules.state import ServerFlags
from sandbox.engine import Engine
from sandbox.paths import CHECKOUT
from sandbox.pods import simulate_pods
from tests import warm_python
from tests.cluster_access import OwnCluster
from tests.ending import end_with_this_run
from tests.engine.deployed import Deployed
from tests.engine_project import Project
from tests.provider.api_server import write_kubeconfig
from tests.tripwire import Call, Wire, tripwire
from tests.waiting import eventually

Victim = Literal["engine", "provider", "machine", "coderd", "API server"]
VICTIMS: tuple[Victim, ...] = ("engine", "coderd", "provider", "API server", "machine")
"""`machine` is the engine with all its plugins, as when a CI runner loses its power."""
OPERATOR_SECRET = "secrets/coder-operator"
_FRESH = ("--fresh", "--unlicensed", "--api-rate-limit", "-1")
_STARTS = 20
_MOST_RUNS = 150
_LONGEST_RUN = 240.0


@dataclass
class Point:
    """One row of the table."""

    call: str
    when: Literal["before", "after"]
    victim: Victim
    command: str = ""
    next_run: str = ""


class CoderdProcess:
    """The simulated coderd as a process, which writes down each change before it answers."""

    def __init__(self, folder: Path) -> None:
        self._state = folder / "coderd.json"
        self.url = ""
        self._process = self._started(0)

    def kill(self) -> None:
        """As the kernel does when memory runs out."""
        self._process.kill()
        self._process.communicate()

    def restart_if_dead(self) -> None:
        if self._process.poll() is not None:
            self._process = self._started(httpx.URL(self.url).port or 0)

    @property
    def records(self) -> Records:
        """What it would know after a restart."""
        state = storage.load(self._state, ServerFlags())
        assert state is not None
        return state.records

    def _started(self, port: int) -> subprocess.Popen[str]:
        """Try again while somebody else has the port, which nobody kept while coderd was dead."""
        for _ in range(_STARTS):
            process = subprocess.Popen(
                [sys.executable, "-m", "coder_stack.cli", "sandbox", "coderd", "--port", str(port),
                 "--state", str(self._state), *_FRESH],
                cwd=CHECKOUT, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert process.stdout is not None
            if hello := process.stdout.readline():
                self.url = str(json.loads(hello)["url"])
                end_with_this_run(process.pid)
                return process
            process.communicate()
        raise AssertionError(f"coderd could not be started on port {port}")


@dataclass
class Run:
    """One command of Pulumi with all its processes."""

    process: psutil.Popen
    family: list[psutil.Process] = field(default_factory=list[psutil.Process])
    """Who was there when somebody was killed."""

    def kill(self, victim: Victim) -> None:
        if self.process.is_running():
            self.family = self.process.children(recursive=True)
        killed = {
            "engine": [],
            "machine": self.family,
            "provider": [each for each in self.family if _is_provider(each)],
        }[victim]
        if victim != "provider":
            _kill(self.process)
        for each in [*warm_python.forked_for(killed), *killed]:
            _kill(each)

    def end(self) -> int:
        """Its exit code. What outlived it is ended too."""
        try:
            return self.process.wait(_LONGEST_RUN)
        finally:
            for each in [self.process, *self.family]:
                _kill(each)


@dataclass
class Crashes:
    """One stack, whoever can be killed around it, and all that happened."""

    stack: Deployed
    coderd: CoderdProcess
    cluster: OwnCluster
    wires: tuple[Wire, ...]
    counts: Callable[[Call], bool]
    """Which of the calls that change something are points."""
    victims: Iterator[Victim]
    """Who is next. Before a call only somebody whose death keeps it from acting."""
    check: Callable[["Crashes"], None] = lambda _crashes: None
    """What must hold whenever somebody has just been killed."""
    coderd_comes_back: bool = False
    """Whether coderd is started again at once, as a kubelet does, or only after the run."""
    points: list[Point] = field(default_factory=list[Point])
    _seen: dict[str, int] = field(default_factory=dict[str, int])
    _done: list[str] = field(default_factory=list[str])
    _tripped: list[Point] = field(default_factory=list[Point])
    _late: dict[str, Point] = field(default_factory=dict[str, Point])
    _run: Run | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def survive(self, name: str, *command: str) -> list[Point]:
        """Run the command until it gets through; returns the points it had to pass."""
        passed: list[Point] = []
        latest: list[Point] = []
        self._seen = {}
        for _ in range(_MOST_RUNS):
            code, output = self._attempt(name, *command)
            for point in latest:
                point.next_run = self._account()
            latest = self._tripped
            self.points += latest
            passed += latest
            if not latest:
                assert code == 0, f"{name}, after {passed[-1] if passed else 'nothing'}:\n{output}"
                once = [call for call, times in self._seen.items() if times < 2]
                assert not once, (
                    f"{name}: {once} were not made again after a kill before they acted"
                )
                return passed
            self._recover()
            self.check(self)
        raise AssertionError(f"{name} never got through: {passed}")

    def tell(self, call: Call) -> bool:
        """Before a call is passed on: whether it is cut off."""
        with self._lock:
            if not call.changes or self._run is None:
                return False
            self._done.append(str(call))
            if not self.counts(call):
                return False
            times = self._seen.get(str(call), 0)
            if times > 1:
                return False
            self._seen[str(call)] = times + 1
            victim = self._next_victim(call, before=not times)
            point = Point(str(call), "after" if times else "before", victim)
            self._tripped.append(point)
            if times:
                self._late[str(call)] = point
                return False
            self._kill(victim)
            return _is_cut_off(call, victim)

    def told(self, call: Call) -> bool:
        """After a call was answered: whether the answer is lost."""
        with self._lock:
            point = self._late.pop(str(call), None) if call.changes else None
            if point is None:
                return False
            self._kill(point.victim)
            return _is_cut_off(call, point.victim)

    def _next_victim(self, call: Call, *, before: bool) -> Victim:
        assert self._run is not None
        if not self._run.process.is_running():
            return "machine"  # a provider that has outlived its engine goes on until then
        for victim in islice(self.victims, len(VICTIMS)):
            if not before or _is_cut_off(call, victim):
                return victim
        return victim

    def _attempt(self, name: str, *command: str) -> tuple[int, str]:
        project = self.stack.project
        self._tripped, self._late, self._done = [], {}, []
        log = project.folder / f"run-{len(self.stack.said)}.log"
        words = ["pulumi", *command, "--yes", "--skip-preview", "--parallel", "1", "--stack"]
        with log.open("wb") as output:
            process = psutil.Popen(
                [*words, project.stack.name, "--non-interactive", "--color", "never"],
                cwd=project.folder,
                env={**os.environ, **project.environment, "CODER_STACK_DEADLINE": self._deadline},
                stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
            self._run = Run(process)
            try:
                self._settle(process)
                code = self._run.end()
            finally:
                self._run = None
        for point in self._tripped:
            point.command = name
        said = log.read_text(errors="replace")
        self.stack.said.append(said)
        return code, said

    @property
    def _deadline(self) -> str:
        """A coderd that comes back is waited for; one that does not is soon given up."""
        return "60" if self.coderd_comes_back else "5"

    def _settle(self, process: psutil.Popen) -> None:
        """Wait for the engine, and for a provider that outlived it to finish what it was at."""
        process.wait(_LONGEST_RUN)
        assert eventually(lambda: all(wire.idle_for(0.4) for wire in self.wires), 60)

    def _kill(self, victim: Victim) -> None:
        assert self._run is not None
        if victim == "coderd":
            self.coderd.kill()
            if self.coderd_comes_back:
                self.coderd.restart_if_dead()
        elif victim == "API server":
            self.cluster.kill_api_server()
        else:
            self._run.kill(victim)

    def _recover(self) -> None:
        """What whoever is on call does: bring back what is dead, and release the lock."""
        self.coderd.restart_if_dead()
        self.cluster.wait()
        command = ["pulumi", "cancel", "--yes", "--stack", self.stack.project.stack.name]
        subprocess.run(
            command, cwd=self.stack.project.folder, capture_output=True, check=False, timeout=60,
            env={**os.environ, **self.stack.project.environment},
        )  # fmt: skip

    def _account(self) -> str:
        """What the run did that is a point, in short, and how it ended."""
        done = [call for call in dict.fromkeys(self._done) if call in self._seen]
        end = f"killed at {self._tripped[0].call}" if self._tripped else "converged"
        return "; ".join([*done[:3], *(["…"] if len(done) > 3 else []), end])


def _name(server: str) -> str:
    return "coderd" if server == "coderd" else "API server"


def _is_cut_off(call: Call, victim: Victim) -> bool:
    """Whether caller or server of this call dies. Most objects are the other plugin's calls."""
    ours = call.server == "coderd" or OPERATOR_SECRET in call.path
    caller = victim == "machine" or (victim == "provider" and ours)
    return caller or victim == _name(call.server)


def _is_provider(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return "pulumi.dynamic" in process.cmdline()
    return False


def _kill(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(signal.SIGKILL)


@contextmanager
def crashing(
    engine: Engine,
    cluster: OwnCluster,
    folder: Path,
    *,
    counts: Callable[[Call], bool],
    victims: Sequence[Victim] = VICTIMS,
    **settings: Any,
) -> Iterator[Crashes]:
    """The stack, configured and not yet up. At the end nothing of it may have leaked."""
    with ExitStack() as open_:
        coderd = CoderdProcess(folder)
        open_.callback(coderd.kill)
        wires = tuple(
            open_.enter_context(tripwire(server, open_.enter_context(upstream)))
            for server, upstream in (
                ("coderd", httpx.Client(base_url=coderd.url, trust_env=False, timeout=30)),
                ("cluster", api.client(cluster.kubeconfig)),
            )
        )
        project = Project.create(engine, cluster, folder, coderd_url=wires[0].url)
        stack = Deployed(project, coderd)  # type: ignore[arg-type]
        kubeconfig = write_kubeconfig(folder, wires[1].url)
        stack.configure(kubernetes={"kubeconfig": kubeconfig}, **settings)
        crashes = Crashes(stack, coderd, cluster, wires, counts, cycle(victims))
        for wire in wires:
            wire.before, wire.after = crashes.tell, crashes.told
        open_.enter_context(simulate_pods(cluster.kubeconfig, project.namespace, coderd.url))
        open_.callback(project.clean_up)
        open_.callback(cluster.wait)
        yield crashes
        stack.assert_nothing_leaked()


def table(points: Sequence[Point]) -> str:
    """All of it as text, for the log of a test run."""
    rows = [("command", "killed", "when", "call", "the next run")]
    rows += [(p.command, p.victim, p.when, p.call, p.next_run) for p in points]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join([*(row[n].ljust(widths[n]) for n in range(4)), row[4]]) for row in rows
    )
