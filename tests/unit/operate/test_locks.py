"""The lock files of a backend in a folder, and the holder that they name (D3)."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from coder_stack.operate.engine.errors import LeftLockError, LockedError
from coder_stack.operate.engine.locks import lock_folder, raise_if_locked

HOLDER = {"pid": 42, "username": "ann", "hostname": "laptop", "timestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize("stack", ["dev", "organization/coder-stack/dev"])
@pytest.mark.parametrize("url", ["file:///srv/a%20state", "file:///srv/a%20state?no_tmp_dir=true"])
def test_the_locks_of_a_stack_are_in_its_own_folder(url: str, stack: str) -> None:
    expected = Path("/srv/a state/.pulumi/locks/organization/coder-stack/dev")
    assert lock_folder(url, "coder-stack", stack) == expected


@pytest.mark.parametrize(
    ("url", "project"),
    [
        ("s3://bucket/x", "coder-stack"),
        ("https://api.pulumi.com", "coder-stack"),
        ("file:///s", ""),
    ],
)
def test_other_backends_have_no_lock_folder(url: str, project: str) -> None:
    assert lock_folder(url, project, "dev") is None


def test_D3_the_error_names_the_holder(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(json.dumps(HOLDER))
    with pytest.raises(LockedError, match=r"held by ann@laptop \(pid 42\) since 2026-01-01T00"):
        raise_if_locked(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", '{"pid": 1}'])
def test_a_lock_without_a_holder_still_counts(tmp_path: Path, text: str) -> None:
    (tmp_path / "1.json").write_text(text)
    with pytest.raises(LockedError, match=r"update of the stack is running."):
        raise_if_locked(tmp_path)


def test_a_folder_without_locks_is_not_locked(tmp_path: Path) -> None:
    raise_if_locked(tmp_path)
    raise_if_locked(tmp_path / "nowhere")


def ended() -> int:
    """Return the pid of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def refused(folder: Path, **holder: object) -> LockedError:
    """Return the error for the lock of this holder."""
    (folder / "1.json").write_text(json.dumps({**HOLDER, **holder}))
    with pytest.raises(LockedError) as error:
        raise_if_locked(folder)
    return error.value


def test_D3_a_lock_that_a_killed_run_has_left_behind_is_known_as_such(tmp_path: Path) -> None:
    pid, here = ended(), socket.gethostname()
    error = refused(tmp_path, pid=pid, hostname=here)
    assert isinstance(error, LeftLockError)
    assert str(error) == (
        f"The stack is locked by ann@{here} (pid {pid}) since 2026-01-01T00:00:00Z, and no such "
        "process runs here any more."
    )
    step = error.next_step("dev")
    assert step.text == "Release the lock that it has left behind."
    assert step.command == "pulumi cancel --stack dev"


def test_D3_a_holder_that_runs_or_cannot_be_seen_from_here_may_be_alive(tmp_path: Path) -> None:
    here = socket.gethostname()
    for holder in ({"pid": os.getpid(), "hostname": here}, {"pid": 1, "hostname": here},
                   {"pid": ended(), "hostname": "elsewhere"}, {"pid": "?", "hostname": here},
                   {"pid": 10**30, "hostname": here}):  # fmt: skip
        assert not isinstance(refused(tmp_path, **holder), LeftLockError), holder
