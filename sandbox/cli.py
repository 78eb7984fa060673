"""`coder-stack sandbox …` and `coder-stack doctor`: what a person types to get, see and end a world of their own."""

import typer

app = typer.Typer(
    help="A whole world on this machine: cluster, engine and state.", no_args_is_help=True
)


def mount(root: typer.Typer) -> None:
    """Hang the sandbox's commands into the `coder-stack` command."""
    root.add_typer(app, name="sandbox")
