"""Events of the engine: recorded from real runs, or built for one resource."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pulumi.automation.events import EngineEvent

from coder_stack.operate.engine.events import EngineRun, read_events

CODER = "pulumi-python:dynamic/coder:"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
MASKED = {
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    "ciphertext": "[secret]",
}


def recorded(name: str) -> EngineRun:
    """Return a recorded `preview --refresh`, reduced to the events that a report needs."""
    lines = (Path(__file__).parent / "recorded" / f"{name}.jsonl").read_text().splitlines()
    return read_events([EngineEvent.from_json(json.loads(line)) for line in lines])


def urn_of(type_: str, name: str, parents: str = "") -> str:
    return f"urn:pulumi:dev::coder-stack::{parents}{type_}::{name}"


def step(
    op: str,
    type_: str,
    old: Mapping[str, Any] | None,
    new: Mapping[str, Any] | None,
    *paths: str,
    name: str = "it",
    parents: str = "",
) -> EngineEvent:
    """Build one step on one resource, with equal inputs and outputs on each side."""
    urn = urn_of(type_, name, parents)
    parent = f"urn:pulumi:dev::coder-stack::{parents.rstrip('$')}::parent" if parents else ""
    event = "resOutputsEvent" if op == "refresh" else "resourcePreEvent"
    metadata = {
        "op": op,
        "urn": urn,
        "type": type_,
        "old": _state(old, urn, type_, parent),
        "new": _state(new, urn, type_, parent),
        "detailedDiff": {path: {"diffKind": "update", "inputDiff": True} for path in paths},
    }
    return EngineEvent.from_json({"sequence": 1, "timestamp": 1, event: {"metadata": metadata}})


def _state(
    properties: Mapping[str, Any] | None, urn: str, type_: str, parent: str
) -> dict[str, Any] | None:
    if properties is None:
        return None
    sides = {"inputs": properties, "outputs": properties}
    return {"urn": urn, "type": type_, "parent": parent, **sides}
