"""Lines for the person who runs Pulumi, on stderr: in a provider process stdout is the engine's."""

import sys


def warn(message: str) -> None:
    """Print a warning, which the engine shows among its diagnostics."""
    _print(f"warning: {message}")


def inform(message: str) -> None:
    """Print progress."""
    _print(f"info: {message}")


def _print(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
