"""`coder-stack admin`: the URL that people open, the first user, and the password."""

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Annotated

import typer

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.stack_config import StackConfig
from coder_stack.settings import ConfigError
from coder_stack.start.admin import Admin

app = typer.Typer(help="Show how to log in to a stack's Coder.")


def register(root: typer.Typer) -> None:
    """Add the commands to `coder-stack`."""
    root.add_typer(app, name="admin")


Stack = Annotated[
    str | None, typer.Option("--stack", "-s", help="Name of the stack. Default: the selected one.")
]
Folder = Annotated[
    Path | None, typer.Option("--cwd", help="Folder of the Pulumi project. Default: this one.")
]


@app.callback(invoke_without_command=True)
def show(context: typer.Context, stack: Stack = None, cwd: Folder = None) -> None:
    """Show the URL, the first user, and how to get the password."""
    context.obj = (stack, cwd)
    if context.invoked_subcommand is not None:
        return
    with _admin(context) as admin:
        rows = {"url": admin.url}
        if admin.token_is_given:
            rows["password"] = admin.why_no_password
        else:
            access, name = admin.settings.access, admin.config.stack
            rows |= {"username": access.username, "email": access.email}
            rows["password"] = f"coder-stack admin password --stack {name}"
        for label, value in rows.items():
            typer.echo(f"{label:<9} {value}")
        if why := admin.why_not_open():
            command, local = admin.port_forward()
            typer.echo(
                f"\nThe URL cannot be opened from here ({why}). Coder is at {local} while this "
                f"runs:\n  {command}"
            )


@app.command()
def url(context: typer.Context, stack: Stack = None, cwd: Folder = None) -> None:
    """Print the URL that people open."""
    with _admin(context, stack, cwd) as admin:
        typer.echo(admin.url)


@app.command()
def password(context: typer.Context, stack: Stack = None, cwd: Folder = None) -> None:
    """Print the first user's password, and nothing else."""
    with _admin(context, stack, cwd) as admin:
        typer.echo(admin.password().get_secret_value())


@contextlib.contextmanager
def _admin(
    context: typer.Context, stack: str | None = None, cwd: Path | None = None
) -> Generator[Admin]:
    """Yield what the stack knows; show errors as sentences. Options may precede the command."""
    group_stack, group_cwd = context.obj
    folder = cwd or group_cwd or Path()
    try:
        config = StackConfig.of(folder, stack or group_stack)
        # Paths in the config are relative to the project.
        with contextlib.chdir(folder):
            yield Admin.of(config)
    except (OperationError, ConfigError) as error:
        why = error.told() if isinstance(error, OperationError) else str(error)
        typer.echo(f"error: {why}", err=True)
        raise typer.Exit(1) from None
