"""What `sandbox deploy` shows of a stack."""

import io

from rich.console import Console
from rich.table import Table

from sandbox import report


def shown(table: Table, *, terminal: bool = False) -> str:
    out = io.StringIO()
    colours = "standard" if terminal else "auto"
    Console(file=out, width=200, force_terminal=terminal, color_system=colours).print(table)
    return out.getvalue()


CONDITIONS = [
    {
        "component": "provisioner/eu",
        "type": "DaemonsConnected",
        "status": status,
        "reason": "TooFew",
        "message": "Coderd has not seen [1] daemons.",
    }
    for status in ("True", "False", "Unknown")
]


def test_every_condition_is_a_row_with_its_words_as_they_are() -> None:
    text = shown(report.conditions({"conditions": CONDITIONS}))
    rows = [line for line in text.splitlines() if "DaemonsConnected" in line]
    assert [row.split("│")[3].strip() for row in rows] == ["True", "False", "Unknown"]
    assert all("Coderd has not seen [1] daemons." in row for row in rows)
    assert "\x1b[" not in text


def test_on_a_terminal_what_does_not_hold_is_coloured() -> None:
    text = shown(report.conditions({"conditions": CONDITIONS[1:2]}), terminal=True)
    assert "\x1b[1;31mFalse" in text


def test_only_facts_that_are_there_have_a_row() -> None:
    outputs = {
        "phase": "Ready",
        "version": "",
        "license": {"licenseExpires": "2030-12-30T00:00:00Z"},
    }
    text = shown(report.facts(outputs, "sandbox"))
    assert "Ready" in text
    assert "2030-12-30T00:00:00Z" in text
    assert "version" not in text
    assert "tier" not in text
