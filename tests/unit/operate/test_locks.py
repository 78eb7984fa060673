"""Who holds a stack, read off the files of a backend in a folder (D3)."""

import json
from pathlib import Path

import pytest

from coder_stack.operate.engine.errors import LockedError
from coder_stack.operate.engine.locks import lock_folder, refuse_if_held

HOLDER = {"pid": 42, "username": "ann", "hostname": "laptop", "timestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize("stack", ["dev", "organization/coder-stack/dev"])
@pytest.mark.parametrize("url", ["file:///srv/a%20state", "file:///srv/a%20state?no_tmp_dir=true"])
def test_the_locks_of_a_stack_are_in_a_folder_of_its_own(url: str, stack: str) -> None:
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
def test_what_is_no_folder_has_to_be_asked(url: str, project: str) -> None:
    assert lock_folder(url, project, "dev") is None


def test_D3_the_holder_is_named_as_pulumi_itself_would(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(json.dumps(HOLDER))
    with pytest.raises(LockedError, match=r"held by ann@laptop \(pid 42\) since 2026-01-01T00"):
        refuse_if_held(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", '{"pid": 1}'])
def test_a_lock_that_says_nothing_is_still_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "1.json").write_text(text)
    with pytest.raises(LockedError, match=r"update of the stack is running; end"):
        refuse_if_held(tmp_path)


def test_no_lock_is_no_hindrance(tmp_path: Path) -> None:
    refuse_if_held(tmp_path)
    refuse_if_held(tmp_path / "nowhere")
