"""A copy of the checkout with a sandbox of its own, for tests of what a newcomer types."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from sandbox.paths import CHECKOUT
from tests.engine.starting import copy_checkout
from tests.project_environment import lay_environment


class Clone:
    """A copy of the checkout's own files, with commands run as `make` runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        copy_checkout(folder)
        (folder / ".venv").symlink_to(CHECKOUT / ".venv")

    def start_python_warm(self) -> None:
        """Let Pulumi start the clone's programs and providers as in other tests.

        They import the checkout's modules, so the clone's have to be the same.
        """
        environment = self.folder / ".venv"
        environment.unlink()
        lay_environment(environment, commands=True)

    def run(
        self, *arguments: str, stdin: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """`coder-stack …` in the clone. PYTHONPATH puts the clone before the checkout."""
        unset = ("CODER_STACK_KUBECONFIG", "CI")
        environment = {k: v for k, v in os.environ.items() if k not in unset}
        environment |= {"PYTHONPATH": str(self.folder), **variables}
        return subprocess.run(
            # As the clone's own Python, which the commands that it starts find on PATH.
            [str(self.folder / ".venv" / "bin" / "python"), "-m", "coder_stack.cli", *arguments],
            executable=sys.executable,
            cwd=self.folder,
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=1200,
        )

    def execute(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run one command in the sandbox's environment."""
        return self.run("sandbox", "exec", "--", *command, **variables)

    def start(self) -> None:
        """Start the sandbox's cluster, with nothing in it."""
        up = self.run("sandbox", "up")
        assert up.returncode == 0, up.stderr

    def conditions(self, stack: str = "sandbox", **variables: str) -> set[tuple[str, str, str]]:
        """Component, condition and status, as the stack has them on record."""
        outputs = ["coder-stack", "outputs", "conditions", "--stack", stack]
        shown = self.execute(*outputs, **variables)
        assert shown.returncode == 0, shown.stderr
        return {(c["component"], c["type"], c["status"]) for c in json.loads(shown.stdout)}

    def resources(self, stack: str = "sandbox", **variables: str) -> list[dict[str, Any]]:
        """The resources in the stack's state."""
        shown = self.execute("pulumi", "stack", "export", "--stack", stack, **variables)
        assert shown.returncode == 0, shown.stderr
        return json.loads(shown.stdout)["deployment"].get("resources", [])
