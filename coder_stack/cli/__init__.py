"""The `coder-stack` command; each group of commands has its own module here.

Only the module of the command that was asked for is imported, so that it starts fast. `sandbox` and
`doctor` come from the checkout's `sandbox` package, which a wheel of coder_stack does not contain,
and which needs packages that the program does not.
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

_MODULES = {
    "init": "coder_stack.cli.init",
    "drift": "coder_stack.cli.operate",
    "reconcile": "coder_stack.cli.operate",
    "status": "coder_stack.cli.operate",
    "watch": "coder_stack.cli.watch",
    "outputs": "coder_stack.cli.outputs",
    "admin": "coder_stack.cli.admin",
    "config": "coder_stack.cli.config",
    "license": "coder_stack.cli.license",
}
_IN_A_CHECKOUT = {"doctor": "sandbox.cli", "sandbox": "sandbox.cli"}
_ONLY_FOR_DEVELOPMENT = ("filelock", "psutil", "starlette", "uvicorn")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"coder-stack {version('coder-stack')}")
        raise typer.Exit


def _root(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Deploy Coder on Kubernetes with Pulumi and keep it converged."""


def command(words: Sequence[str] = ()) -> typer.Typer:
    """Return the command as far as these words need it: all of it if they name none."""
    app = typer.Typer(
        name="coder-stack",
        help="Deploy Coder on Kubernetes with Pulumi and keep it converged.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    modules = dict(_MODULES)
    wanted = words[0] if words else ""
    if (Path(__file__).parents[2] / "sandbox" / "cli.py").exists():
        if all(map(importlib.util.find_spec, _ONLY_FOR_DEVELOPMENT)):
            modules |= _IN_A_CHECKOUT
        elif wanted in _IN_A_CHECKOUT:
            typer.echo(f"error: {wanted} needs more packages: make .venv/.ready-dev", err=True)
            raise SystemExit(1)
    if wanted != "--version":
        for module in [modules[wanted]] if wanted in modules else dict.fromkeys(modules.values()):
            importlib.import_module(module).register(app)
    return app


def main() -> None:
    """Run the command.

    Exit code 2 tells schedulers that there is drift or that a license expires soon. click also uses
    it for mistakes on the command line; here those exit with 1.
    """
    usage_error: Any = typer.BadParameter.__base__
    usage_error.exit_code = 1
    command(sys.argv[1:])(prog_name="coder-stack")
