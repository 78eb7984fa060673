"""Every tool that `pulumi up` against a real local Kubernetes API needs, on Linux and macOS.

    on PATH and new enough → the vendor's release, verified → built from the Go module proxy
All of it in one cache (`$CODER_STACK_CACHE`); the versions and addresses are in catalogue.py.
`coder-stack doctor` shows what was taken and why.
"""

from collections.abc import Iterable
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
    "browser",
    "cache_dir",
    "ensure",
    "find",
    "kubernetes_plugin",
    "wheels",
]


def ensure(names: Iterable[str]) -> dict[str, Installed]:
    """Install what is missing of these tools (progress on stderr) and say where each is."""
    return Toolchain.from_environment().ensure(names)


def browser() -> Installed:
    """A headless browser for the tests of the HTML report, fetched if need be."""
    return Toolchain.from_environment().ensure_browser()


def wheels(name: str) -> Path:
    """A folder to import a locked set of Python packages from, installed if need be."""
    return Toolchain.from_environment().ensure_wheels(name)


def find(name: str) -> Installed | None:
    """Where a tool is now, without installing anything."""
    return Toolchain.from_environment().find(name)
