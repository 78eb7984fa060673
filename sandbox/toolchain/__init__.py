"""The tools for `pulumi up` against a local Kubernetes API, on Linux and macOS.

    on PATH and new enough → the vendor's release, verified → built from the Go module proxy
They are in one cache (`$CODER_STACK_CACHE`); versions and addresses are in catalogue.py.
`coder-stack doctor` shows the source of each tool and the reason.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from sandbox.toolchain.catalogue import CHECKS, CLUSTER, CONTRACT, ENGINE
from sandbox.toolchain.errors import ToolchainError
from sandbox.toolchain.install import Toolchain, cache_dir
from sandbox.toolchain.provider_plugin import PluginChoice, kubernetes_plugin
from sandbox.toolchain.store import Installed

__all__ = [
    "CHECKS",
    "CLUSTER",
    "CONTRACT",
    "ENGINE",
    "Installed",
    "PluginChoice",
    "ToolchainError",
    "api_documents",
    "browser",
    "cache_dir",
    "ensure",
    "find",
    "kubernetes_plugin",
    "wheels",
]


def ensure(names: Iterable[str]) -> dict[str, Installed]:
    """Return these tools; install what is missing, with progress on stderr."""
    return Toolchain.from_environment().ensure(names)


def browser() -> Installed:
    """Return a headless browser for the tests of the HTML report; install it if necessary."""
    return Toolchain.from_environment().ensure_browser()


def wheels(name: str) -> Path:
    """Return the folder of a locked set of Python packages; install it if necessary."""
    return Toolchain.from_environment().ensure_wheels(name)


def api_documents() -> Mapping[str, Path]:
    """Return Coder's API document of each tried version; download what is missing."""
    return Toolchain.from_environment().ensure_api_documents()


def find(name: str) -> Installed | None:
    """Return a tool if it is installed."""
    return Toolchain.from_environment().find(name)
