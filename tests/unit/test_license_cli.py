"""`coder-stack license inspect`: exit 0 usable, 2 expiring or in grace, 1 unusable."""

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from coder_stack.cli import command
from tests.unit.coderd.fakes import ID, NOW
from tests.unit.coderd.licenses import license_text

app = command()


def current(days: float = 365, grace: float = 30, **others: Any) -> str:
    """A license that lasts so many days from today: the command looks at the real clock."""
    shift = (datetime.now(UTC) - NOW) / timedelta(days=1)
    past = int((datetime.now(UTC) - timedelta(days=2)).timestamp())
    return license_text(days=days + shift, grace=grace, iat=past, nbf=past, **others)


def inspect(text: str | None, *options: str, file: str = "-") -> Result:
    return CliRunner().invoke(app, ["license", "inspect", file, *options], input=text)


@pytest.mark.parametrize(
    ("days", "options", "code"),
    [
        (365, [], 0),
        (10, [], 2),
        (10, ["--warn-days", "5"], 0),
        (-3, [], 2),
        (-60, [], 1),
        (365, ["--needs", "workspace_proxy", "--needs", "high_availability"], 0),
        (365, ["--needs", "custom_roles"], 1),
        (365, ["--deployment-id", ID], 0),
        (365, ["--deployment-id", "other"], 1),
    ],
)
def test_the_exit_code_says_whether_it_can_be_used(
    days: int, options: list[str], code: int
) -> None:
    text = current(days=days, deployment_ids=[ID])

    assert inspect(text, *options).exit_code == code
    assert inspect(text, "--json", *options).exit_code == code


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_L9_the_token_is_not_printed(options: list[str]) -> None:
    text = current(days=-3)

    result = inspect(text, *options)

    assert not any(part in result.output for part in text.split("."))


def test_claims_and_dates_are_printed_plainly_where_no_terminal_is() -> None:
    result = inspect(current(days=10))

    assert result.stdout.startswith("result: warning\n")
    assert "account_id: A-1" in result.stdout
    assert "license_expires: 20" in result.stdout
    assert "warning: ExpiringSoon: The license expires on" in result.stdout
    assert "\x1b" not in result.stdout


def test_json_has_a_stable_shape() -> None:
    document = json.loads(inspect(current(days=10), "--json").stdout)

    assert document["schema"] == 1
    assert document["result"] == "warning"
    assert document["license"]["id"] == ID
    assert document["license"]["features"] == {"user_limit": 100}
    assert "workspace_proxy" in document["license"]["granted"]
    assert [found["reason"] for found in document["findings"]] == ["ExpiringSoon"]


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "license.jwt"
    file.write_text(current() + "\n")

    assert inspect(None, file=str(file)).exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "is empty"), ("  \n", "is empty"), ("hello", "is not a JWT"), ("a.b.c", "is not a JWT")],
)
def test_what_is_no_license_is_one_sentence(text: str, words: str) -> None:
    result = inspect(text)

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error: the license ")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_missing_file_or_a_folder_is_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jwt", tmp_path):
        result = inspect(None, file=str(path))

        assert result.exit_code == 1
        assert result.stderr.startswith(f"error: cannot read {path}: ")
        assert result.stderr.count("\n") == 1


def test_bytes_that_are_no_text_are_no_license(tmp_path: Path) -> None:
    file = tmp_path / "binary"
    file.write_bytes(bytes(range(256)))

    assert inspect(None, file=str(file)).exit_code == 1


def test_claims_cannot_drive_the_terminal() -> None:
    result = inspect(current(account_id="\x1b[2J[red]x[/red]\u202e"))

    assert "account_id: ?[2J[red]x[/red]?" in result.stdout


def test_on_a_terminal_it_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(
        "coder_stack.cli.license.Console",
        lambda: Console(file=screen, force_terminal=True, width=60),
    )

    good, soon = inspect(current()), inspect(current(days=10))

    assert (good.exit_code, soon.exit_code) == (0, 2)
    assert "usable" in screen.getvalue()
    assert "…" not in screen.getvalue()
    assert "ExpiringSoon" in screen.getvalue()
