"""A stack run with the policy pack, and what the pack said, as data.

An operation that fails is no exception here: failing is what most of these tests want to see.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.paths import CHECKOUT
from tests.engine_outcome import Outcome
from tests.engine_project import Project

PACK = str(CHECKOUT / "policies")


@dataclass(frozen=True)
class Violation:
    """One message of one rule."""

    rule: str
    level: str
    resource: str
    message: str


@dataclass
class Run(Outcome):
    """One operation with the pack on."""

    failed: bool = False
    violations: list[Violation] = field(default_factory=list[Violation])
    filled_in: set[str] = field(default_factory=set[str])
    """Rules that changed what is applied."""

    def rules(self, level: str) -> set[str]:
        return {each.rule for each in self.violations if each.level == level}

    def message(self, rule: str) -> str:
        """What the rule said, if it was one thing."""
        (only,) = {each.message for each in self.violations if each.rule == rule}
        return only

    def assert_clean(self) -> None:
        """Nothing is stopped or filled in: the pack can be switched on at any time."""
        assert not self.failed, self.text
        assert self.rules("mandatory") == set(), self.text
        assert self.filled_in == set(), self.text


@dataclass
class Guarded:
    """A project whose operations go past the pack."""

    project: Project

    def preview(self, config: Mapping[str, Any] | None = None) -> Run:
        return self._run("preview", config=config)

    def up(self, config: Mapping[str, Any] | None = None) -> Run:
        return self._run("up", "--yes", "--skip-preview", config=config)

    def _run(self, *command: str, config: Mapping[str, Any] | None) -> Run:
        file = self.project.folder / "policies.json"
        file.write_text(json.dumps(config or {}))
        pack = ("--policy-pack", PACK, "--policy-pack-config", str(file))
        outcome, failure = self.project.attempt(*command, *pack)
        run = Run(outcome.steps, outcome.text, outcome.events)
        if failure:
            run.failed = True
            run.text += f"\n{failure}"
        for line in run.events:
            _note(json.loads(line), run)
        return run


def _note(event: dict[str, Any], run: Run) -> None:
    if said := event.get("policyEvent"):
        name = said.get("resourceUrn", "").split("::")[-1]
        run.violations.append(
            Violation(said["policyName"], said["enforcementLevel"], name, said["message"])
        )
    if mended := event.get("policyRemediationEvent"):
        run.filled_in.add(mended["policyName"])
