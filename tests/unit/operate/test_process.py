"""An interrupt reaches each `pulumi` once, and is waited for until the lock is released (F7)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from coder_stack.operate.engine.process import Interrupted, interruptible, run
from sandbox.paths import CHECKOUT
from tests.waiting import eventually

PROGRAM = Path(__file__).with_name("interrupted.py")
WAITING = "interrupting Pulumi, waiting for it to finish the current step"


class Updates:
    """A command that runs one `pulumi` for each stack, in a process group of its own."""

    def __init__(self, folder: Path, work: str, stacks: Sequence[str]) -> None:
        self.locks = [folder / f"{stack}.lock" for stack in stacks]
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), work, *map(str, self.locks)],
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert eventually(lambda: all(lock.exists() for lock in self.locks[:2]))

    def press_ctrl_c(self, presses: int) -> None:
        """As a terminal does: the whole foreground group gets it."""
        for press in range(1, presses + 1):
            os.killpg(self.process.pid, signal.SIGINT)
            if press < 3:
                assert eventually(lambda press=press: max(self.interrupts()) == press)
            # Two signals within half a second are one press.
            time.sleep(0.6)

    def interrupts(self) -> list[int]:
        """Return how often each `pulumi` was interrupted."""
        files = [lock.with_suffix(".interrupts") for lock in self.locks]
        return [int(file.read_text() or 0) if file.exists() else 0 for file in files]

    def end(self) -> tuple[int, str]:
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


Start = Callable[..., Updates]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    def started(*stacks: str, work: str = "0.3") -> Updates:
        return Updates(tmp_path, work, stacks)

    return started


def test_F7_ctrl_c_reaches_each_pulumi_once_and_waits_for_it(start: Start) -> None:
    updates = start("dev", "staging")
    updates.press_ctrl_c(1)
    code, said = updates.end()
    assert code == 130
    assert updates.interrupts() == [1, 1]
    assert not any(lock.exists() for lock in updates.locks)
    assert said.count(WAITING) == 1
    assert "interrupted; no lock is left. Run the same command again to continue." in said


def test_F7_a_stack_that_has_not_begun_does_not_begin(start: Start) -> None:
    updates = start("dev", "staging", "production")  # two at a time
    updates.press_ctrl_c(1)
    assert updates.end()[0] == 130
    assert updates.interrupts() == [1, 1, 0]


def test_F7_sigterm_is_forwarded_as_an_interrupt_and_asks_once(start: Start) -> None:
    updates = start("dev", work="2")
    for _ in range(3):
        updates.process.send_signal(signal.SIGTERM)
        time.sleep(0.6)
    code, _ = updates.end()
    assert (code, updates.interrupts()) == (143, [1])


def test_F7_the_same_press_twice_is_one(start: Start) -> None:
    """`timeout` sends a signal to its child and then to the group."""
    updates = start("dev", work="1")
    for _ in range(2):
        updates.process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    code, _ = updates.end()
    assert (code, updates.interrupts()) == (130, [1])


def test_F7_a_second_ctrl_c_abandons_the_step(start: Start) -> None:
    updates = start("dev", work="60")
    updates.press_ctrl_c(2)
    code, said = updates.end()
    assert (code, updates.interrupts()) == (130, [2])
    assert "Pulumi has released its lock, but the step's outcome is unknown" in said


def test_F7_a_third_kills_pulumi_and_names_the_command_that_releases_the_lock(
    start: Start,
) -> None:
    updates = start("dev", work="stubborn")
    updates.press_ctrl_c(3)
    code, said = updates.end()
    assert code == 130
    assert updates.locks[0].exists()
    assert "its lock may stay. Release it with `pulumi cancel --stack dev`" in said


def test_F7_output_and_exit_code_are_returned_and_signals_are_as_before(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    polled: list[int] = []
    script = "echo out; echo err >&2; sleep 0.3; exit 3"
    with interruptible(lambda _: None):
        done = run(["/bin/sh", "-c", script], cwd=tmp_path, env={}, poll=lambda: polled.append(1))
    assert (done.code, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert polled
    assert signal.getsignal(signal.SIGINT) is before


def test_F7_a_signal_after_the_last_command_is_not_lost(tmp_path: Path) -> None:
    with pytest.raises(Interrupted) as stopped, interruptible(lambda _: None):
        os.kill(os.getpid(), signal.SIGTERM)
    assert stopped.value.exit_code == 143
    assert run(["/bin/true"], cwd=tmp_path, env={}).code == 0, "a later block begins anew"
