"""What `coder-stack sandbox deploy` shows of a stack's outputs: conditions, and the few facts.

Pure: from outputs to tables. Which conditions there are is the program's business.
"""

from collections.abc import Mapping
from typing import Any, cast

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

_STYLES = {"True": "green", "False": "bold red", "Unknown": "yellow"}
# Output → what it is called here. Dotted: inside a mapping.
_FACTS = {
    "phase": "phase",
    "url": "url",
    "version": "version",
    "tier": "tier",
    "license.licenseExpires": "license expires",
}


def conditions(outputs: Mapping[str, Any]) -> Table:
    """One row each, whole words on 80 columns; what does not hold catches the eye and says why."""
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


def complaints(outputs: Mapping[str, Any]) -> list[str]:
    """The messages of what does not hold."""
    listed: list[dict[str, str]] = outputs.get("conditions") or []
    return [
        f"{each['component']}: {each['message']}"
        for each in listed
        if each["status"] != "True" and each["message"]
    ]


def facts(outputs: Mapping[str, Any], stack: str) -> Table:
    """The outputs that a person looks at first; an output that is not there has no row."""
    table = Table("output", "value", title=f"Stack {stack}")
    table.title_justify = "left"
    for path, name in _FACTS.items():
        value = _at(outputs, path)
        if value not in (None, ""):
            table.add_row(name, Text(str(value)))
    return table


def _at(outputs: Mapping[str, Any], path: str) -> object:
    found: Any = outputs
    for step in path.split("."):
        found = cast("Mapping[str, Any]", found).get(step) if isinstance(found, Mapping) else None
    return found
