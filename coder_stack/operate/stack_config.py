"""A stack's config through Pulumi: settings as the program sees them, and secrets one at a time.

Pulumi decrypts and encrypts with the stack's own secrets provider. A secret goes to it on stdin and
comes back on stdout, never as an argument, which every process on the machine could read.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from coder_stack.config_keys import command_to_set
from coder_stack.operate.engine.errors import OperationError, operation_error
from coder_stack.operate.engine.pulumi import Project
from coder_stack.settings import Settings, load, namespace_of


@dataclass(frozen=True)
class StackConfig:
    """The config of one stack of a project."""

    project: Project
    stack: str

    @classmethod
    def of(cls, folder: Path, stack: str | None) -> "StackConfig":
        """Take the stack that is selected in Pulumi, unless one is given."""
        project = Project.at(folder.absolute())
        if not project.name:
            raise OperationError(f"There is no Pulumi.yaml in {folder.absolute()}; give --cwd.")
        return cls(project, stack or project.selected_stack())

    @cached_property
    def _values(self) -> Mapping[str, Mapping[str, Any]]:
        return json.loads(self.project.run("config", "--json", "--stack", self.stack))

    @property
    def namespace(self) -> str:
        """Return the namespace of this program's keys."""
        return namespace_of(self._values, self.project.name)

    @property
    def secrets(self) -> frozenset[str]:
        """Return the encrypted keys, without their namespace."""
        prefix = f"{self.namespace}:"
        found = (key for key, each in self._values.items() if each.get("secret"))
        return frozenset(key.removeprefix(prefix) for key in found if key.startswith(prefix))

    def settings(self) -> Settings:
        """Return the settings; raise ConfigError with every mistake."""
        texts = {key: str(each.get("value", "")) for key, each in self._values.items()}
        encrypted = [key for key, each in self._values.items() if each.get("secret")]
        return load(texts, self.project.name, encrypted)

    def watching(self) -> Settings:
        """Return `watch` and `notify` alone: another program has keys of its own beside them."""
        ours = [f"{self.namespace}:{key}" for key in ("watch", "notify", "notifyUrl")]
        texts = {
            key: str(self._values[key].get("value", "")) for key in ours if key in self._values
        }
        encrypted = [key for key in texts if self._values[key].get("secret")]
        return load(texts, self.project.name, encrypted)

    def secret(self, key: str) -> SecretStr:
        """Return the decrypted value of a key that is set."""
        name = f"{self.namespace}:{key}"
        found = self.project.run("config", "get", name, "--json", "--stack", self.stack)
        return SecretStr(json.loads(found)["value"])

    def set_secret(self, key: str, value: SecretStr) -> None:
        """Encrypt a value into the stack's config file."""
        name = f"{self.namespace}:{key}"
        command = ("pulumi", "--non-interactive", "config", "set", "--secret")
        done = subprocess.run(
            [*command, name, "--stack", self.stack],
            cwd=self.project.folder,
            env={**os.environ, "PULUMI_AUTOMATION_API": "true"},
            input=value.get_secret_value(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise operation_error(done.stderr)

    def command_to_set(self, key: str) -> str:
        """Give the command that sets a secret of this stack."""
        set_it = command_to_set(key, self.namespace, self.project.name)
        return f"{set_it} --stack {self.stack}"
