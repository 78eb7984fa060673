"""Keys of the stack's config as people type them, and the namespace that they are in.

Pulumi puts a key without a namespace under the project's name. A copy of this program may be a
project of any name (`pulumi new`), and a library user's project has keys of its own.
"""

import os
from collections.abc import Callable

CONFIG = "coder-stack"
"""Namespace of our keys in any project: a `token` of somebody else's project is not meant for
coderd."""
_PROGRAM_ONLY = (
    "controlPlane",
    "initialPassword",
    "licenseJwt",
    "organizations",
    "provisioners",
    "proxies",
    "reconcileJob",
)
"""Keys that only this program has; `token`, `kubernetes` and others may be a library user's."""


class _InUse:
    """The namespace of this process; a provider process learns it when it is configured."""

    namespace: str = CONFIG


IN_USE = _InUse()


def namespace_in(project: str, has: Callable[[str], bool]) -> str:
    """Return the namespace of our keys: the project's own, if it has keys of this program."""
    own = project != CONFIG and any(has(f"{project}:{key}") for key in _PROGRAM_ONLY)
    return project if own else CONFIG


def command_to_set(key: str, namespace: str = "", project: str = "") -> str:
    """Give the command that sets a secret of ours, in whichever project this is."""
    namespace = namespace or IN_USE.namespace
    project = project or os.environ.get("PULUMI_PROJECT", "")
    name = key if project == namespace else f"{namespace}:{key}"
    return f"pulumi config set --secret {name}"
