"""The text report: readable in a log, without control characters on a terminal."""

import io

from rich.console import Console

from coder_stack.operate.report.model import Difference
from coder_stack.operate.report.text import plain_lines, print_reports
from tests.unit.operate.reports import SECRET, broken, clean, drifted, resource


def on_terminal(*reports: object) -> str:
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, color_system=None, width=200)
    print_reports(reports, console, details=True)  # pyright: ignore[reportArgumentType]
    return output.getvalue()


def test_D2_each_difference_is_one_line_and_secrets_are_masked() -> None:
    lines = list(plain_lines(drifted(), details=False))
    assert lines[0] == "stack production: drift"
    assert '    ~ spec.replicas: "3" => "1"' in lines
    assert "    ~ data.key: [secret] => [secret]" in lines
    assert SECRET not in "\n".join(lines) + on_terminal(drifted())


def test_a_clean_stack_and_one_that_could_not_be_checked() -> None:
    assert list(plain_lines(clean(), details=False)) == ["stack staging: clean"]
    assert (
        list(plain_lines(broken(), details=False))[1]
        == "  error: Coderd did not answer (Unavailable)."
    )


def test_foreign_text_has_no_control_characters_and_no_markup() -> None:
    evil = Difference(path="a", recorded="\x1b[2J", actual="[bold]x[/]\r")
    report = clean(resources=(resource("x", cause="\x1b]0;title\x07", properties=(evil,)),))
    for text in (on_terminal(report), "\n".join(plain_lines(report, details=True))):
        assert not set(text) & set("\x1b\x07\r")
        assert "[bold]x[/]" in text
