"""`coder-stack outputs`: everything that the last update recorded for people and scripts."""

import json
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.engine.pulumi import Project


def register(root: typer.Typer) -> None:
    """Add the command to `coder-stack`."""
    root.command()(outputs)


def outputs(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="One of them, such as provisioners.")
    ] = "",
    stack: Annotated[
        str | None,
        typer.Option("--stack", "-s", help="Name of the stack. Default: the selected one."),
    ] = None,
    cwd: Annotated[Path, typer.Option("--cwd", help="Folder of the Pulumi project.")] = Path(),
) -> None:
    """Print the stack's outputs and those of its parts as JSON, with secrets masked.

    `pulumi stack output` has only what does not grow with the config.
    """
    try:
        project = Project.at(cwd.absolute())
        chosen = stack or project.selected_stack()
        found = project.stack(chosen).outputs()
    except OperationError as error:
        _fail(error.told())
    if name and name not in found:
        listed = f"it has {', '.join(sorted(found))}" if found else "it was never deployed"
        _fail(f"stack {chosen} has no output {name}; {listed}")
    shown = found[name] if name else found
    typer.echo(shown if isinstance(shown, str) else json.dumps(shown, indent=2))


def _fail(sentence: str) -> NoReturn:
    typer.echo(f"error: {sentence}", err=True)
    raise typer.Exit(1)
