"""The `coder-stack` command; each group of commands has its own module here.

`sandbox` and `doctor` come from the checkout's `sandbox` package. They are imported by name,
because a wheel of coder_stack does not contain it.
"""

import importlib
from pathlib import Path
from typing import Any

import typer

from coder_stack.cli import config as config_cli
from coder_stack.cli import license as license_cli
from coder_stack.cli import operate as operate_cli

app = typer.Typer(
    name="coder-stack",
    help="Deploy Coder on Kubernetes with Pulumi and keep it converged.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(config_cli.app, name="config")
app.add_typer(license_cli.app, name="license")
operate_cli.register(app)


@app.callback()
def _root() -> None:  # pyright: ignore[reportUnusedFunction]  # typer calls it
    """Deploy Coder on Kubernetes with Pulumi and keep it converged."""


def main() -> None:
    """Run the command.

    Exit code 2 tells schedulers that there is drift or that a license expires soon. click also uses
    it for mistakes on the command line; here those exit with 1.
    """
    if (Path(__file__).parents[2] / "sandbox" / "cli.py").exists():
        importlib.import_module("sandbox.cli").mount(app)
    usage_error: Any = typer.BadParameter.__base__
    usage_error.exit_code = 1
    app()
