"""Stacks in a file backend of Pulumi's, created and read without a process of its CLI.

The engine creates the first stack of a test process; the others are copies of its files.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import yaml
from pulumi import automation as auto

from sandbox.paths import CHECKOUT

_META = Path(".pulumi/meta.yaml")


@cache
def shared_salt() -> str:
    """Return the salt of the sandbox's stack, which nearly all stacks of the tests have."""
    return yaml.safe_load((CHECKOUT / "Pulumi.sandbox.yaml").read_text())["encryptionsalt"]


def backend_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of an environment's backend; None if it is not in files."""
    scheme, _, folder = environment["PULUMI_BACKEND_URL"].partition("://")
    return Path(folder) if scheme == "file" else None


def deployment(backend: Path, project: str, stack: str) -> dict[str, Any]:
    """Return a stack's deployment, with its secrets encrypted."""
    return (
        json.loads(_state_file(backend, project, stack).read_text())["checkpoint"]["latest"] or {}
    )


class CopyingWorkspace(auto.LocalWorkspace):
    """Creates a stack as a copy of the first one, if its config file has the salt of all tests.

    The copy is not the folder's selected stack; the tests name theirs in every command.
    """

    _first: ClassVar[tuple[str, str, str] | None] = None
    """Its name, its state and what the backend says of itself."""

    def create_stack(self, stack_name: str) -> None:
        backend = backend_folder(self.env_vars)
        if backend is None or not self._has_shared_salt(stack_name):
            super().create_stack(stack_name)
            return
        project = self.project_settings().name
        state, meta = _state_file(backend, project, stack_name), backend / _META
        if CopyingWorkspace._first is None:
            super().create_stack(stack_name)
            CopyingWorkspace._first = (stack_name, state.read_text(), meta.read_text())
        else:
            name, text, about = CopyingWorkspace._first
            state.parent.mkdir(parents=True)
            state.write_text(text.replace(f"/{project}/{name}", f"/{project}/{stack_name}"))
            meta.write_text(about)

    def _has_shared_salt(self, stack_name: str) -> bool:
        file = Path(self.work_dir) / f"Pulumi.{stack_name}.yaml"
        content = yaml.safe_load(file.read_text()) if file.exists() else {}
        return content.get("encryptionsalt") == shared_salt()


def _state_file(backend: Path, project: str, stack: str) -> Path:
    return backend / ".pulumi" / "stacks" / project / f"{stack}.json"
