"""The questions of `coder-stack init`, on a terminal; elsewhere, missing options are named."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import typer
from pydantic import SecretStr

from coder_stack.cluster.kubeconfig import (
    Kubeconfig,
    KubeconfigError,
    kubeconfig_files,
    load_kubeconfig,
)
from coder_stack.start import password as passwords
from coder_stack.start.template import BUILT_IN, CLOUD_NATIVE_PG, DATABASES, SECRET

DATABASE_OPTIONS = {
    SECRET: "--database-secret",
    CLOUD_NATIVE_PG: "--cloud-native-pg",
    BUILT_IN: "--built-in-database",
}


def fail(message: str) -> NoReturn:
    """Print one sentence, and exit with 1."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(1)


@dataclass
class Questions:
    """Asks on a terminal; elsewhere collects the options that are missing."""

    interactive: bool
    missing: list[str] = field(default_factory=list[str])

    def text(self, option: str, question: str, given: str | None, default: str) -> str:
        """Return the option's value, or ask for it."""
        if given:
            return given
        if self.interactive:
            return str(typer.prompt(question, default=default))
        self.missing.append(option)
        return default

    def optional(self, question: str, given: str | None, default: str = "") -> str | None:
        """Return the option's value, or ask for it; None if there is none."""
        if given is None and self.interactive:
            given = typer.prompt(question, default=default, show_default=bool(default))
        return given or None

    def context(self, given: str | None, kubeconfig: str | None, folder: Path) -> str | None:
        """Return a context, by default the current one, which is then fixed by its name.

        The kubeconfig is relative to the project's folder, as in the config.
        """
        which = Kubeconfig(kubeconfig=kubeconfig)
        files = kubeconfig_files(which, os.environ)
        if given or not files:
            return given  # without a file, a pod's service account serves
        try:
            current = load_kubeconfig(folder / files[0], None).context
        except KubeconfigError as error:
            if self.interactive:
                typer.echo(f"warning: {error}", err=True)
            current = ""
        return self.text("--context", "Context in the kubeconfig", None, default=current) or None

    def database(self, chosen: dict[str, bool], secret: str | None) -> dict[str, Any]:
        """Return the chosen database, and the name of its Secret."""
        kind = next((each for each, wanted in chosen.items() if wanted), None)
        if kind is None and self.interactive:
            kind = self._one_of("Database", DATABASES)
            if kind == SECRET:
                question = "Secret with PostgreSQL's URL under `url`"
                secret = typer.prompt(question, default="coder-database")
        if kind is None:
            options = [DATABASE_OPTIONS[each] for each in DATABASES]
            self.missing.append(f"one of {', '.join(options)}")
            kind = BUILT_IN
        return {"database": kind, **({"database_secret": secret} if secret else {})}

    def _one_of(self, question: str, choices: tuple[str, ...]) -> str:
        """Ask until the answer is one of the choices; the first is the default."""
        shown = f"{question} ({', '.join(choices)})"
        while (answer := str(typer.prompt(shown, default=choices[0]))) not in choices:
            typer.echo(f"There is no {answer!r}; the choices are: {', '.join(choices)}.")
        return answer

    def password(self, *, generate: bool) -> SecretStr | None:
        """Ask for a password; None to generate one."""
        if generate or not self.interactive:
            return None
        question = "Password of coderd's first user (empty: generate one)"
        given = str(typer.prompt(question, default="", show_default=False, hide_input=True))
        if not given:
            return None
        if typer.prompt("The same again", hide_input=True) != given:
            fail("the two passwords differ; run the command again.")
        if wrong := passwords.fault(SecretStr(given)):
            fail(f"the password {wrong}; run the command again.")
        return SecretStr(given)

    def stop_if_missing(self) -> None:
        """Name all missing options at once."""
        if self.missing:
            fail(f"give {' and '.join(self.missing)}; or run this on a terminal, which asks.")
