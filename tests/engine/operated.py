"""Operator access, license and entitlements on a real engine, against a simulated coderd.

`Operated` is one small stack. Everything that Pulumi prints, reports as an event or stores is
searched for secrets when the test ends.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pulumi.automation.errors import CommandError

from sandbox.engine import Engine
from tests.engine_outcome import Outcome
from tests.engine_project import Project
from tests.simulation import Simulation, simulated

PROGRAM = """
import pulumi
from coder_stack.dynamic.entitlements import Entitlements
from coder_stack.dynamic.license import License
from coder_stack.dynamic.operator_access import OperatorAccess

config = pulumi.Config()
token, home = config.get_secret("token"), config.get_object("home")
connection = {"url": config.require("url"), "credential": "config" if token else home}
access = OperatorAccess(
    "access",
    connection=connection,
    token=token,
    make_token=token is None,
    wait_seconds=20,
)
after = [access]
if config.get("jwt") is not None:
    license = License(
        "license",
        connection=connection,
        jwt=config.require_secret("jwt"),
        deployment_id=access.deployment_id,
        opts=pulumi.ResourceOptions(depends_on=[access]),
    )
    pulumi.export("license", {"applied": license.applied, "reason": license.reason})
    after.append(license)
entitlements = Entitlements(
    "entitlements",
    connection=connection,
    deployment_id=access.deployment_id,
    opts=pulumi.ResourceOptions(depends_on=after),
)
pulumi.export("tier", entitlements.tier)
pulumi.export("stale", entitlements.stale)
pulumi.export("proxies", entitlements.features.apply(
    lambda features: features.get("workspace_proxy", {}).get("entitlement")
))
pulumi.export("deployment", access.deployment_id)
pulumi.export("user", access.user)
"""
# The form of every token that coderd gives out.
_TOKEN = re.compile(r"\b[0-9A-Za-z]{10}-[0-9A-Za-z]{22}\b")


@dataclass
class Operated:
    """One stack, its coderd, and everything that Pulumi printed."""

    project: Project
    coderd: Simulation
    secrets: set[str] = field(default_factory=set[str])
    said: list[str] = field(default_factory=list[str])

    def set_config(self, **settings: str) -> None:
        """Set parts of the stack's config; the rest stays."""
        for key, value in settings.items():
            self.project.set_config(key, value)

    def give(self, key: str, value: str) -> None:
        """Set a secret of the stack's config."""
        self.secrets.add(value)
        if key == "token":
            self.project.forget_password()
        self.project.set_config(key, value, secret=True)

    def up(self, *, refresh: bool = False) -> Outcome:
        return self._keep(lambda: self.project.up(refresh=refresh))

    def preview(self, *, refresh: bool = False) -> Outcome:
        return self._keep(lambda: self.project.preview(refresh=refresh))

    def refresh(self) -> Outcome:
        return self._keep(self.project.refresh)

    def destroy(self) -> Outcome:
        return self._keep(self.project.destroy)

    def failure(self, operation: Callable[[], Any]) -> str:
        """Return what Pulumi says when the operation fails; fail the test if it works."""
        with pytest.raises(CommandError) as failed:
            operation()
        return str(failed.value)

    def resources(self) -> dict[str, dict[str, Any]]:
        """Return the coderd resources in the state by name, with secrets as Pulumi keeps them."""
        found = self.project.state().get("resources", [])
        ours = [r for r in found if r["type"].startswith("pulumi-python:dynamic/coder:")]
        return {r["urn"].split("::")[-1]: r for r in ours}

    def assert_nothing_leaked(self) -> None:
        """Check that nothing printed or stored has a secret in plain text (L9)."""
        backend = Path(self.project.environment["PULUMI_BACKEND_URL"].removeprefix("file://"))
        files = [path for path in backend.rglob("*") if path.is_file()]
        assert files, "there is a state to search"
        texts = [*self.said, *(path.read_text(errors="replace") for path in files)]
        for secret in self.secrets - {""}:
            assert not any(secret in text for text in texts), "a secret is in plain text"
        assert not any(_TOKEN.search(text) for text in texts), "a token is in plain text"

    def _keep(self, operation: Callable[[], Outcome]) -> Outcome:
        try:
            outcome = operation()
        except CommandError as error:
            self.said.append(str(error))
            raise
        self.said += [outcome.text, *outcome.events]
        return outcome


@contextmanager
def operated(
    engine: Engine, coderd: Simulation, folder: Path, program: str = PROGRAM
) -> Iterator[Operated]:
    """Create the stack, not yet deployed; at the end, check that it leaked nothing."""
    project = Project.create(engine, None, folder, program)
    stack = Operated(project, coderd)
    stack.set_config(url=coderd.url)
    yield stack
    stack.assert_nothing_leaked()


@contextmanager
def licensed(engine: Engine, folder: Path, program: str) -> Iterator[Operated]:
    """Create a stack that has the owner's token of a licensed coderd."""
    with simulated(licensed=True) as coderd, operated(engine, coderd, folder, program) as stack:
        stack.give("token", coderd.token)
        stack.set_config(deployment=coderd.state.records.deployment_id)
        yield stack
