"""The `coder-stack` command: a table of contents; each group of commands lives with what it does.

`sandbox` and `doctor` come from the checkout's own `sandbox` package. They are mounted by name,
because the program must not depend on them: a wheel of coder_stack has no sandbox inside.
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
def _root() -> None:  # pyright: ignore[reportUnusedFunction]  # with it, one command stays a command
    """Deploy Coder on Kubernetes with Pulumi and keep it converged."""


def main() -> None:
    """Entry point of the console script.

    Exit codes are a contract with schedulers: 2 means "look at this" (drift, a license that ends
    soon), so a mistake on the command line, for which click would use 2 as well, is 1.
    """
    if (Path(__file__).parents[2] / "sandbox" / "cli.py").exists():
        importlib.import_module("sandbox.cli").mount(app)
    usage_error: Any = typer.BadParameter.__base__
    usage_error.exit_code = 1
    app()
