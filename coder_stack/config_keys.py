"""Keys of the stack's config as people type them."""

import os

CONFIG = "coder-stack"
"""Namespace of our keys, whatever the project is called: a `token` of somebody else's project is
not meant for coderd."""


def command_to_set(key: str) -> str:
    """Give the command that sets a secret of ours, in whichever project this is."""
    name = key if os.environ.get("PULUMI_PROJECT") == CONFIG else f"{CONFIG}:{key}"
    return f"pulumi config set --secret {name}"
