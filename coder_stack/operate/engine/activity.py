"""What the engine is doing at this moment, read from its event log while it runs (F6). Pure.

A refresh and the plan or update of a resource follow each other, resource by resource, so there is
one phase per command. events.py reads the complete log when the command has ended.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from coder_stack.counting import counted

_PHASES = {"preview": "refreshing and planning", "up": "refreshing and updating"}
_BEGIN = "resourcePreEvent"
_END = ("resOutputsEvent", "resOpFailedEvent")


@dataclass
class Activity:
    """How far one engine command is."""

    command: str
    _done: set[str] = field(default_factory=set[str])
    _running: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    """URN and operation of what has begun and not ended, oldest first."""

    def read(self, line: str) -> None:
        """Take in one line of the log."""
        event: Mapping[str, Any] = json.loads(line)
        for kind in (_BEGIN, *_END):
            if metadata := event.get(kind, {}).get("metadata"):
                self._step(kind, metadata)

    def _step(self, kind: str, metadata: Mapping[str, Any]) -> None:
        urn, op = str(metadata["urn"]), str(metadata["op"])
        state: Mapping[str, Any] = metadata.get("new") or metadata.get("old") or {}
        # Components and providers are done at once; they would only hide what is waited for.
        if not state.get("custom") or "::pulumi:providers:" in urn:
            return
        if kind == _BEGIN:
            self._running[urn, op] = None
            return
        self._running.pop((urn, op), None)
        if op != "refresh":
            self._done.add(urn)

    @property
    def phase(self) -> str:
        """Return what the command does."""
        return _PHASES.get(self.command, self.command)

    @property
    def detail(self) -> str:
        """Return the number of resources done, and the resource that it works on longest."""
        if not self._done and not self._running:
            return "starting the program"
        waiting = next((urn.rpartition("::")[2] for urn, _ in self._running), "")
        return f"{counted(len(self._done), 'resource')} done{f', at {waiting}' if waiting else ''}"
