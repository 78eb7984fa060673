"""The `coder-stack` command: a table of contents; each group of commands lives with what it does.

`sandbox` and `doctor` come from the checkout's own `sandbox` package. They are mounted by name,
because the program must not depend on them: a wheel of coder_stack has no sandbox inside.
"""

import importlib
import importlib.util

import typer

from coder_stack import license_cli

app = typer.Typer(
    name="coder-stack",
    help="Deploy Coder on Kubernetes with Pulumi and keep it converged.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(license_cli.app, name="license")


@app.callback()
def _root() -> None:  # pyright: ignore[reportUnusedFunction]  # typer calls it; with it, one command stays a command
    """Deploy Coder on Kubernetes with Pulumi and keep it converged."""


def main() -> None:
    """Entry point of the console script."""
    if importlib.util.find_spec("sandbox"):
        importlib.import_module("sandbox.cli").mount(app)
    app()


if __name__ == "__main__":
    main()
