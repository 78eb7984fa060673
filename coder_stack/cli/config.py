"""`coder-stack config …`: print the reference or the schema, check a file; all offline."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from coder_stack.config_keys import CONFIG
from coder_stack.settings import ConfigError, hints, load
from coder_stack.settings.reference import reference_page
from coder_stack.settings.schema import stack_file_schema
from coder_stack.settings.stack_file import NotAStackFileError, project_beside, read_stack_file

app = typer.Typer(help="Check a stack's config, or print its reference or schema.")


def register(root: typer.Typer) -> None:
    """Add the commands to `coder-stack`."""
    root.add_typer(app, name="config")


@app.command()
def reference() -> None:
    """Print the reference page (docs/configuration.md)."""
    typer.echo(reference_page(), nl=False)


@app.command()
def schema() -> None:
    """Print the JSON schema of Pulumi.<stack>.yaml (docs/configuration.schema.json)."""
    typer.echo(json.dumps(stack_file_schema(), indent=2))


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="The config file, Pulumi.<stack>.yaml.")],
    project: Annotated[
        str, typer.Option(help="Name of the Pulumi project. Default: of the Pulumi.yaml beside it.")
    ] = "",
) -> None:
    """Print every mistake, or the settings with all defaults. Exit 0: valid, 1: mistakes."""
    project = project or project_beside(file) or CONFIG
    try:
        stack_file = read_stack_file(file, project)
        for warning in stack_file.warnings:
            typer.echo(f"warning: {file}: {warning}", err=True)
        settings = load(
            stack_file.texts, project, stack_file.secret_keys, found=stack_file.misplaced
        )
    except (NotAStackFileError, ConfigError) as error:
        typer.echo(f"error: {file}: {error}", err=True)
        raise typer.Exit(1) from None
    for hint in hints(settings):
        typer.echo(f"warning: {file}: {hint}", err=True)
    shown: dict[str, Any] = settings.model_dump(mode="json", by_alias=True, exclude_none=True)
    typer.echo(yaml.safe_dump(shown, sort_keys=False), nl=False)
