"""What `sandbox deploy` shows of a stack."""

import io

from rich.console import Console
from rich.table import Table

from sandbox import report


def shown(table: Table, *, terminal: bool = False, width: int = 200) -> str:
    out = io.StringIO()
    colours = "standard" if terminal else "auto"
    Console(file=out, width=width, force_terminal=terminal, color_system=colours).print(table)
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


def test_every_condition_is_a_row_with_whole_words_on_80_columns() -> None:
    named = {**CONDITIONS[0], "type": "ExternalProvisionersEntitled", "reason": "RotationDeferred"}
    text = shown(report.conditions({"conditions": [*CONDITIONS, named]}), width=80)
    rows = [line.split() for line in text.splitlines() if "TooFew" in line]
    assert [row[-2] for row in rows] == ["True", "False", "Unknown"]
    assert "ExternalProvisionersEntitled True RotationDeferred" in " ".join(text.split())
    assert text.count("provisioner/eu") == 1, "a component is named once"
    assert "\x1b[" not in text


def test_what_does_not_hold_says_why() -> None:
    said = "provisioner/eu: Coderd has not seen [1] daemons."
    assert report.failures({"conditions": CONDITIONS}) == [said, said]


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


def test_F1_how_to_log_in_is_shown_on_80_columns_and_the_password_is_a_command() -> None:
    outputs = {
        "accessUrl": "http://coder.coder.svc.cluster.local:80",
        "admin": {"username": "admin", "email": "admin@example.com"},
        "adminPassword": "hunter2",
        "license": {"licenseExpires": "2030-12-30T00:00:00Z"},
    }
    text = shown(report.facts(outputs, "sandbox"), width=80)
    for whole in ("http://coder.coder.svc.cluster.local:80", "admin@example.com"):
        assert whole in text
    assert "coder-stack sandbox exec -- coder-stack admin password" in text
    assert "hunter2" not in text
    assert "password" not in shown(report.facts({"phase": "Ready"}, "sandbox"))
