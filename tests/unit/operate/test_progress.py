"""What a person or a log sees while the engine runs (F6)."""

import io
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from coder_stack.operate.engine.activity import Activity
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.progress import LiveProgress, PlainProgress, progress_on
from tests.waiting import eventually

KEY = "urn:pulumi:dev::coder-stack::pulumi-python:dynamic/coder:ProvisionerKey::eu-key"
SECRET = "urn:pulumi:dev::coder-stack::kubernetes:core/v1:Secret::eu-secret"
COMPONENT = "urn:pulumi:dev::coder-stack::coder-stack:index:Provisioner::eu"
PROVIDER = "urn:pulumi:dev::coder-stack::pulumi:providers:kubernetes::cluster"
BEGIN, END, FAILED = "resourcePreEvent", "resOutputsEvent", "resOpFailedEvent"


def event(kind: str, op: str, urn: str) -> str:
    """One line of the engine's log."""
    state = {"custom": urn != COMPONENT}
    return json.dumps({"sequence": 1, kind: {"metadata": {"op": op, "urn": urn, "new": state}}})


def activity(*lines: str, command: str = "up") -> Activity:
    seen = Activity(command)
    for line in lines:
        seen.read(line)
    return seen


def test_F6_before_the_first_resource_the_program_starts() -> None:
    seen = activity('{"preludeEvent": {"config": {}}}', command="preview")
    assert (seen.phase, seen.detail) == ("refreshing and planning", "starting the program")


def test_F6_resources_are_counted_once_and_the_longest_running_one_is_named() -> None:
    seen = activity(
        event(BEGIN, "refresh", KEY),
        event(END, "refresh", KEY),
        event(BEGIN, "same", KEY),
        event(END, "same", KEY),
        event(BEGIN, "update", SECRET),
    )
    assert (seen.phase, seen.detail) == ("refreshing and updating", "1 resource done, at eu-secret")
    seen.read(event(END, "update", SECRET))
    assert seen.detail == "2 resources done"


def test_F6_what_has_failed_is_no_longer_waited_for() -> None:
    assert activity(event(BEGIN, "create", KEY), event(FAILED, "create", KEY)).detail == (
        "1 resource done"
    )


@pytest.mark.parametrize("urn", [COMPONENT, PROVIDER])
def test_F6_components_and_providers_do_not_hide_what_is_waited_for(urn: str) -> None:
    seen = activity(event(BEGIN, "create", urn), event(BEGIN, "create", KEY))
    assert seen.detail == "0 resources done, at eu-key"


def test_F6_a_log_gets_a_line_at_each_phase_and_not_at_each_call() -> None:
    log = io.StringIO()
    progress = PlainProgress(log)
    progress.start("dev")
    for number in range(5):
        progress.show("dev", "refreshing and planning", f"{number} done")
    progress.show("dev", "refreshing and updating", "0 done")
    progress.end("dev", "drift")
    assert log.getvalue().splitlines() == [
        "==> dev: started",
        "==> dev: refreshing and planning",
        "==> dev: refreshing and updating",
        "==> dev: drift after 0 s",
    ]


def test_F6_a_phase_that_takes_long_is_shown_again() -> None:
    log = io.StringIO()
    progress = PlainProgress(log, interval=0)
    progress.start("dev")
    for _ in range(2):
        progress.show("dev", "refreshing and planning", "3 resources done, at eu-key")
    assert log.getvalue().splitlines()[-1] == (
        "==> dev: refreshing and planning, 3 resources done, at eu-key (0 s)"
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_F6_a_terminal_has_one_line_for_each_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    screen = Terminal()
    with progress_on(screen) as progress:
        assert isinstance(progress, LiveProgress)
        for stack in ("dev", "staging"):
            progress.start(stack)
            progress.show(stack, "refreshing and planning", "3 resources done, at eu-key")
        live = "staging: refreshing and planning, 3 resources done, at eu-key"
        assert eventually(lambda: live in screen.getvalue())
        progress.say("interrupting Pulumi")
        progress.end("dev", "clean")
        progress.end("staging", "drift")
    shown = screen.getvalue()
    for line in ("interrupting Pulumi", "dev: clean after 0 s", "staging: drift after 0 s"):
        assert f"==> {line}\n" in shown


@pytest.mark.parametrize("variable", [{"CI": "true"}, {"TERM": "dumb"}])
def test_F6_a_terminal_that_cannot_move_its_cursor_gets_lines(
    monkeypatch: pytest.MonkeyPatch, variable: dict[str, str]
) -> None:
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    with progress_on(Terminal()) as progress:
        assert isinstance(progress, PlainProgress)


SLOW_PREVIEW = """#!/bin/sh
for word; do log=$word; done
printf '%s' '{begin}' | cut -c1-20 | tr -d '\\n' >> "$log"
sleep 0.5
printf '%s' '{begin}' | cut -c21- >> "$log"
sleep 0.5
echo '{end}' >> "$log"
sleep 0.5
"""


def test_F6_the_log_is_read_while_the_engine_writes_it_also_half_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine writes a line in pieces; the pieces are one event."""
    program = tmp_path / "pulumi"
    metadata: dict[str, Any] = {"type": KEY.split("::")[2], "provider": "", "op": "same"}
    state = {"type": metadata["type"], "urn": KEY, "custom": True, "id": "", "parent": ""}
    state |= {"inputs": {}, "outputs": {}, "provider": ""}
    step = {"metadata": {**metadata, "urn": KEY, "old": state, "new": state}}
    lines = {kind: json.dumps({"sequence": 1, "timestamp": 1, kind: step}) for kind in (BEGIN, END)}
    program.write_text(SLOW_PREVIEW.format(begin=lines[BEGIN], end=lines[END]))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    shown: list[str] = []

    Project(tmp_path, lambda *said: shown.append(" ".join(said))).stack("dev").preview()

    assert list(dict.fromkeys(shown)) == [
        "dev refreshing and planning starting the program",
        "dev refreshing and planning 0 resources done, at eu-key",
        "dev refreshing and planning 1 resource done",
    ]
