"""Tables of a stack's conditions and outputs for `coder-stack sandbox deploy`."""

from collections.abc import Mapping
from typing import Any, cast

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

_STYLES = {"True": "green", "False": "bold red", "Unknown": "yellow"}
# Path of an output → its label.
_FACTS = {
    "phase": "phase",
    "accessUrl": "url",
    "admin.username": "user",
    "admin.email": "e-mail",
    "adminPassword": "password",
    "version": "version",
    "tier": "tier",
    "license.licenseExpires": "license expires",
}
# Outputs that are secrets → the command that shows them.
_COMMANDS = {"adminPassword": "coder-stack sandbox exec -- coder-stack admin password"}


def conditions(outputs: Mapping[str, Any]) -> Table:
    """Return a table of conditions that fits into 80 columns."""
    table = Table(title="Conditions", title_justify="left", box=SIMPLE_HEAD)
    for name in ("component", "condition", "status", "reason"):
        table.add_column(name, no_wrap=True)
    listed: list[dict[str, str]] = outputs.get("conditions") or []
    last = ""
    for each in listed:
        status, component = each["status"], each["component"]
        table.add_row(
            Text("" if component == last else component),
            Text(each["type"]),
            Text(status, style=_STYLES.get(status, "")),
            Text(each["reason"]),
        )
        last = component
    return table


def failures(outputs: Mapping[str, Any]) -> list[str]:
    """Return the messages of the conditions that are not true."""
    listed: list[dict[str, str]] = outputs.get("conditions") or []
    return [
        f"{each['component']}: {each['message']}"
        for each in listed
        if each["status"] != "True" and each["message"]
    ]


def facts(outputs: Mapping[str, Any], stack: str) -> Table:
    """Return a table of the main outputs that the stack has."""
    table = Table("output", "value", title=f"Stack {stack}")
    table.title_justify = "left"
    for path, name in _FACTS.items():
        value = _at(outputs, path)
        if value not in (None, ""):
            table.add_row(name, Text(_COMMANDS.get(path, str(value))))
    return table


def _at(outputs: Mapping[str, Any], path: str) -> object:
    found: Any = outputs
    for step in path.split("."):
        found = cast("Mapping[str, Any]", found).get(step) if isinstance(found, Mapping) else None
    return found
