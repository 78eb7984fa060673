"""What a person sees: lines with a heartbeat in a log, a live line on a terminal."""

import io
import threading
from pathlib import Path

import pytest
from rich.console import Console

from sandbox.toolchain.progress import LiveProgress, PlainProgress, duration, progress_for
from tests.unit.toolchain.machines import Machine, tiny_tool


class Signalling(io.StringIO):
    """A log that tells when a word was written to it."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word = word
        self.written = threading.Event()

    def write(self, text: str) -> int:
        if self._word in text:
            self.written.set()
        return super().write(text)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_shows_the_start_and_then_a_heartbeat_with_the_elapsed_time() -> None:
    log = Signalling("(12 MB)")

    with PlainProgress(log, heartbeat_seconds=0.01).step("etcd", "downloading 3.6.8") as detail:
        detail("12 MB")
        assert log.written.wait(10)

    lines = log.getvalue().splitlines()
    assert lines[0] == "etcd: downloading 3.6.8"
    assert lines[-1].startswith("etcd: still downloading 3.6.8, 0 s")


def test_a_build_in_a_log_ends_with_source_version_duration_and_reason(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path)
    machine.modules = tmp_path / "modules"
    machine.catalogue = {"tiny": tiny_tool(machine.modules)}
    machine.has_scripted_go()

    machine.toolchain().ensure(["tiny"])

    ahead, start, end, cleaning = machine.log.getvalue().splitlines()
    assert ahead == "toolchain: building tiny from source, once; this takes minutes"
    assert start == "tiny: building 9.8.7 with Go 1.26.5"
    assert end.startswith("tiny: 9.8.7 built from source in ")
    assert end.endswith(
        " s (on PATH: not looked for, it is made here; release: not used, nobody publishes it)"
    )
    assert cleaning == "toolchain: removing the build caches"


def test_a_terminal_shows_a_line_that_goes_away() -> None:
    screen = io.StringIO()
    progress = LiveProgress(Console(file=screen, force_terminal=True, width=100))

    with progress.step("etcd", "downloading [3.6.8]") as detail:
        detail("12 MB")
    progress.say("etcd: 3.6.8 downloaded [in] 2 s")

    assert "etcd: downloading [3.6.8]" in screen.getvalue()
    assert screen.getvalue().endswith("etcd: 3.6.8 downloaded [in] 2 s\n")


@pytest.mark.parametrize(
    ("stream", "environment", "kind"),
    [
        (io.StringIO(), {}, PlainProgress),
        (Terminal(), {"TERM": "xterm"}, LiveProgress),
        (Terminal(), {"TERM": "dumb"}, PlainProgress),
        (Terminal(), {"TERM": "xterm", "CI": "true"}, PlainProgress),
    ],
)
def test_the_kind_follows_from_where_stderr_goes(
    stream: io.StringIO,
    environment: dict[str, str],
    kind: type,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CI", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert isinstance(progress_for(stream), kind)


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (125, "2 min 05 s")]
)
def test_durations_read_as_people_say_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said
