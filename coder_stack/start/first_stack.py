"""Create a stack with its config file and secrets, then check both (F4); safe to run again.

What is there stays: a stack, a file with settings, secrets. What to write is decided in template.py
and asked for in cli/init.py.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from coder_stack.cluster.preflight import check_answers, check_provides
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.stack_config import StackConfig
from coder_stack.settings import Settings, hints, load
from coder_stack.settings.stack_file import NotAStackFileError, read_stack_file
from coder_stack.settings.stack_file import StackFile as StackFileContent
from coder_stack.start.template import FirstStack, kept, render

PASSWORD, LICENSE = "initialPassword", "licenseJwt"


@dataclass(frozen=True)
class StackFile:
    """The config file of a stack, and the stack in the backend."""

    project: Project
    stack: str
    """As Pulumi takes it; with an organization it is `organization/project/stack`."""

    @property
    def path(self) -> Path:
        """Return where Pulumi keeps the config."""
        return self.project.folder / f"Pulumi.{self.short_name}.yaml"

    @property
    def short_name(self) -> str:
        """Return the name of the stack alone."""
        return self.stack.rpartition("/")[2]

    @property
    def has_settings(self) -> bool:
        """Tell whether somebody has written it; `pulumi stack init` writes no settings."""
        return self.path.exists() and bool(self._read(self.path).texts)

    def create_stack(self, secrets_provider: str | None = None) -> bool:
        """Select the stack, and create it if there is none; tell whether it is new."""
        listed = {name.rpartition("/")[2] for name in self.project.stack_names()}
        options = ("--secrets-provider", secrets_provider) if secrets_provider else ()
        self.project.run("stack", "select", "--create", self.stack, *options)
        return self.short_name not in listed

    def check_text(self, first: FirstStack) -> None:
        """Raise ConfigError if the answers make no valid config; write nothing."""
        with tempfile.TemporaryDirectory(prefix="coder-stack-") as folder:
            file = Path(folder) / self.path.name
            file.write_text(render(first))
            self._settings(file)

    def write(self, first: FirstStack) -> None:
        """Write the file anew, with the secrets that it has."""
        text = render(first)
        if self.path.exists():
            self._read(self.path)  # refuses what is not a config file
            text = kept(text, self.path.read_text(), self.project.name)
        self.path.write_text(text)

    def needs_password(self) -> bool:
        """Tell whether the stack creates the first user and nobody has declared the password."""
        access, secrets = self._settings(self.path).access, self._secrets()
        declared = access.password_secret or access.token_secret or {PASSWORD, "token"} & secrets
        return not declared

    def set_password(self, password: SecretStr) -> None:
        """Encrypt the first user's password into the file."""
        StackConfig(self.project, self.stack).set_secret(PASSWORD, password)

    def set_license(self, text: SecretStr) -> bool:
        """Encrypt the license into the file, unless it is there; tell whether it was new."""
        config = StackConfig(self.project, self.stack)
        if LICENSE in config.secrets and config.secret(LICENSE) == text:
            return False
        config.set_secret(LICENSE, text)
        return True

    def check(self) -> Iterator[str]:
        """Check the config and the cluster as `pulumi preview` does; return warnings."""
        settings = self._settings(self.path)
        with contextlib.chdir(self.project.folder):  # paths in the config are relative to it
            check_answers(settings, os.environ)
            upgrade = check_provides(settings)
        yield from hints(settings)
        yield from upgrade.warnings

    def _secrets(self) -> set[str]:
        return {key.rpartition(":")[2] for key in self._read(self.path).secret_keys}

    def _settings(self, file: Path) -> Settings:
        read = self._read(file)
        return load(read.texts, self.project.name, read.secret_keys)

    def _read(self, file: Path) -> StackFileContent:
        try:
            return read_stack_file(file, self.project.name)
        except NotAStackFileError as error:
            raise OperationError(f"{file.name} {error}.") from None
