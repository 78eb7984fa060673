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
    assert lines[0] == "stack production: drift, not ready"
    assert '    ~ spec.replicas: actual "1" => wanted "3"' in lines
    assert "    ~ data.key: actual [secret] => wanted [secret]" in lines
    assert SECRET not in "\n".join(lines) + on_terminal(drifted())


def test_a_clean_stack_and_one_that_could_not_be_checked() -> None:
    assert list(plain_lines(clean(), details=False)) == ["stack staging: clean"]
    assert list(plain_lines(broken(), details=False)) == [
        "stack lab: error",
        "  error: Coderd did not answer (Unavailable).",
        "    next: Check coderd's pods. $ kubectl get pods",
    ]


def test_R2_one_next_step_stands_below_all_findings_that_it_repairs() -> None:
    two = clean(result="drift", resources=(resource("a"), resource("b")))
    assert list(plain_lines(two, details=False)) == [
        "stack staging: drift",
        "  changed: It was edited. [a]",
        "  changed: It was edited. [b]",
        "    next: Repair it. $ coder-stack reconcile --stack production",
    ]


def test_R2_what_was_repaired_and_what_is_left_is_listed() -> None:
    left = resource("b", left_because="It still differs after the repair.")
    report = clean(
        result="drift", repaired=True, repairs=(resource("a", next_step=None),), resources=(left,)
    )
    assert list(plain_lines(report, details=False)) == [
        "stack staging: drift",
        "  1 resource differs, 1 resource repaired.",
        "  changed: It was edited. [b]",
        "    left: It still differs after the repair.",
        "    next: Repair it. $ coder-stack reconcile --stack production",
        "  repaired (changed): It was edited. [a]",
    ]


def test_R2_what_only_waits_for_an_update_is_one_line() -> None:
    """The first look at a stack that was never deployed is not 36 findings."""
    many = [resource(f"r{n}", kind="missing", origin="plan", next_step=None) for n in range(36)]
    _first, second, third = plain_lines(clean(result="drift", resources=tuple(many)), details=False)
    assert second == (
        "  missing, not applied yet: 36 resources are declared, but were not created yet."
    )
    assert third.startswith("    Deployment r0, Deployment r1")


def test_R3_recorded_is_shown_where_it_is_neither_actual_nor_wanted() -> None:
    all_differ = Difference(path="spec.replicas", wanted="3", recorded="2", actual="")
    report = clean(resources=(resource("x", properties=(all_differ,)),))
    line = '    ~ spec.replicas: actual "" => recorded "2" => wanted "3"'
    assert line in plain_lines(report, details=False)


def test_foreign_text_has_no_control_characters_and_no_markup() -> None:
    evil = Difference(path="a", recorded="\x1b[2J", actual="[bold]x[/]\r")
    report = clean(resources=(resource("x", cause="\x1b]0;title\x07", properties=(evil,)),))
    for text in (on_terminal(report), "\n".join(plain_lines(report, details=True))):
        assert not set(text) & set("\x1b\x07\r")
        assert "[bold]x[/]" in text
