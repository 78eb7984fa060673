"""A stack run with the policy pack, and what the pack said, as data.

`Guarded` runs previews and updates through the Automation API with `--policy-pack policies`. An
operation that fails is no exception here: failing is what most of these tests want to see.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pulumi.automation.errors import CommandError
from pulumi.automation.events import EngineEvent

from sandbox.home import CHECKOUT
from tests.harness import Project

PACK = str(CHECKOUT / "policies")


@dataclass(frozen=True)
class Violation:
    """One message of one rule."""

    rule: str
    level: str
    resource: str
    message: str


@dataclass
class Run:
    """One operation with the pack on."""

    failed: bool = False
    text: str = ""
    violations: list[Violation] = field(default_factory=list[Violation])
    changes: list[str] = field(default_factory=list[str])

    def rules(self, level: str) -> set[str]:
        return {each.rule for each in self.violations if each.level == level}

    def message(self, rule: str) -> str:
        """What the rule said, if it was one thing."""
        (only,) = {each.message for each in self.violations if each.rule == rule}
        return only


@dataclass
class Guarded:
    """A project whose operations go past the pack."""

    project: Project

    def preview(self, config: Mapping[str, Any] | None = None) -> Run:
        return self._run(lambda **on: self.project.stack.preview(color="never", **on), config)

    def up(self, config: Mapping[str, Any] | None = None) -> Run:
        return self._run(lambda **on: self.project.stack.up(color="never", **on), config)

    def _run(self, operation: Callable[..., Any], config: Mapping[str, Any] | None) -> Run:
        run, lines = Run(), list[str]()

        def on_event(event: EngineEvent) -> None:
            if said := event.policy_event:
                name = (said.resource_urn or "").split("::")[-1]
                run.violations.append(
                    Violation(said.policy_name, said.enforcement_level, name, said.message)
                )
            if event.resource_pre_event and event.resource_pre_event.metadata.op != "same":
                run.changes.append(event.resource_pre_event.metadata.urn.split("::")[-1])

        options: dict[str, Any] = {"policy_packs": [PACK]}
        if config is not None:
            file = Path(self.project.folder) / "policies.json"
            file.write_text(json.dumps(config))
            options["policy_pack_configs"] = [str(file)]
        try:
            operation(on_event=on_event, on_output=lines.append, **options)
        except CommandError as error:
            run.failed = True
            lines.append(str(error))
        run.text = "\n".join(lines)
        return run
