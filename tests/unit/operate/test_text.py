"""The text report: readable in a log, and no foreign control sequence at a terminal."""

import io

from rich.console import Console

from coder_stack.operate.report.model import Difference
from coder_stack.operate.report.text import plain, show
from tests.unit.operate.reports import SECRET, broken, clean, drifted, resource


def at_a_terminal(*reports: object) -> str:
    seen = io.StringIO()
    console = Console(file=seen, force_terminal=True, color_system=None, width=200)
    show(reports, console, details=True)  # pyright: ignore[reportArgumentType]
    return seen.getvalue()


def test_D2_each_difference_is_one_line_and_secrets_are_none() -> None:
    lines = list(plain(drifted(), details=False))
    assert lines[0] == "stack production: drift"
    assert '    ~ spec.replicas: "3" => "1"' in lines
    assert "    ~ data.key: [secret] => [secret]" in lines
    assert SECRET not in "\n".join(lines) + at_a_terminal(drifted())


def test_a_clean_stack_and_one_that_could_not_be_looked_at() -> None:
    assert list(plain(clean(), details=False)) == ["stack staging: clean"]
    assert (
        list(plain(broken(), details=False))[1] == "  error: Coderd did not answer (Unavailable)."
    )


def test_what_others_wrote_moves_no_cursor_and_is_no_markup() -> None:
    evil = Difference(path="a", recorded="\x1b[2J", actual="[bold]x[/]\r")
    report = clean(resources=(resource("x", cause="\x1b]0;title\x07", properties=(evil,)),))
    for text in (at_a_terminal(report), "\n".join(plain(report, details=True))):
        assert not set(text) & set("\x1b\x07\r")
        assert "[bold]x[/]" in text
