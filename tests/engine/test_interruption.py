"""An interrupted `reconcile` or `make up` leaves no lock, and continues later (F7)."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from sandbox.engine import Engine
from tests.engine.clone import Clone
from tests.engine.drifting import report_of
from tests.engine.operated import Operated, operated
from tests.simulation import license_text, simulated
from tests.tripwire import Call, Wire, tripwire
from tests.waiting import eventually

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]
WAITING = "interrupting Pulumi, waiting for it to finish the current step"


class Running:
    """`coder-stack …` in a process group of its own, as a shell starts it in a terminal."""

    def __init__(self, output: Path, folder: Path, environment: dict[str, str], *words: str):
        self.output = output
        with output.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "coder_stack.cli", *words],
                cwd=folder,
                env={**os.environ, **environment},
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return self.output.read_text()

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> None:
        """Signal the whole group, as a terminal does, and wait until that is noticed."""
        os.killpg(self.process.pid, number)
        assert eventually(lambda: WAITING in self.said)


def locks(backend: Path) -> list[Path]:
    return sorted((backend / ".pulumi" / "locks").rglob("*.json"))


class Held:
    """A stack whose license is gone; the upload of a new one waits until it is let go."""

    def __init__(self, stack: Operated, wire: Wire) -> None:
        self.stack = stack
        self.reached, self.go = threading.Event(), threading.Event()
        wire.before = self._hold

    def _hold(self, call: Call) -> bool:
        if str(call) == "POST /licenses":
            self.reached.set()
            assert self.go.wait(120)
        return False

    @property
    def backend(self) -> Path:
        return Path(self.stack.project.environment["PULUMI_BACKEND_URL"].removeprefix("file://"))


@pytest.fixture
def held(engine: Engine, tmp_path: Path) -> Iterator[Held]:
    with ExitStack() as open_:
        coderd = open_.enter_context(simulated())
        upstream = open_.enter_context(httpx.Client(base_url=coderd.url, trust_env=False))
        wire = open_.enter_context(tripwire("coderd", upstream))
        stack = open_.enter_context(operated(engine, coderd, tmp_path))
        stack.set_config(url=wire.url)
        stack.give("token", coderd.token)
        stack.give("jwt", license_text())
        stack.up()
        coderd.lose_licenses()
        held = Held(stack, wire)
        yield held
        held.go.set()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_F7_an_interrupted_reconcile_leaves_no_lock_and_continues(
    held: Held, tmp_path: Path, number: signal.Signals
) -> None:
    """In the middle of an update, and without the name of the stack: it is the selected one."""
    project = held.stack.project
    project.pulumi("stack", "select")
    run = Running(tmp_path / "said", project.folder, project.environment, "reconcile")
    assert eventually(held.reached.is_set, 120), run.said
    (lock,) = locks(held.backend)
    assert json.loads(lock.read_text())["pid"] != run.process.pid

    run.interrupt(number)
    held.go.set()

    assert run.process.wait(120) == 128 + number
    assert "error: interrupted; no lock is left. Run the same command again" in run.said
    assert f"==> {project.stack.name}: refreshing and updating" in run.said
    assert locks(held.backend) == []
    held.stack.said.append(run.said)

    code, report = report_of(held.stack, "reconcile")
    assert (code, report["result"]) == (0, "clean"), report
    assert len(held.stack.coderd.license_ids()) == 1


def test_F7_an_interrupted_look_ends_at_once_and_says_so(held: Held, tmp_path: Path) -> None:
    """A preview takes no lock; each of two stacks is interrupted."""
    project, other = held.stack.project, "other"
    project.stack.workspace.create_stack(other)
    project.stack.workspace.set_all_config(other, project.stack.get_all_config())
    held.stack.coderd.fault("delay", count=-1, seconds=3)
    run = Running(tmp_path / "said", project.folder, project.environment, "drift", "--all")
    seen = [f"==> {name}: refreshing and planning" for name in (other, project.stack.name)]
    assert eventually(lambda: all(line in run.said for line in seen), 120), run.said

    run.interrupt()

    assert run.process.wait(120) == 130
    assert "error: interrupted; no lock is left." in run.said
    assert locks(held.backend) == []
    held.stack.coderd.peace()


def test_F7_an_interrupted_deployment_of_the_sandbox_leaves_no_lock_and_continues(
    clone: Clone, tmp_path: Path
) -> None:
    clone.start_python_warm()
    assert clone.run("sandbox", "up").returncode == 0
    environment = {"PYTHONPATH": str(clone.folder), "CODER_STACK_KUBECONFIG": ""}
    run = Running(tmp_path / "said", clone.folder, environment, "sandbox", "deploy")
    assert eventually(lambda: "coder-operator-license created" in run.said, 240), run.said

    run.interrupt()

    assert run.process.wait(240) == 130, run.said
    assert "error: interrupted; no lock is left." in run.said
    assert locks(clone.folder / ".sandbox" / "state") == []
    again = clone.run("sandbox", "deploy")
    assert again.returncode == 0, again.stdout + again.stderr
    clean = clone.run("sandbox", "exec", "--", "coder-stack", "drift")
    assert clean.returncode == 0, clean.stdout + clean.stderr
