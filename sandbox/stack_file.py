"""Switch Pulumi.sandbox.yaml between one and two clusters.

The stack's file is the only place where Pulumi, `coder-stack drift` and people look for the config.
So the lines for a second cluster are in it, as comments that end in `# CLUSTERS=2`. Everything else
in the file stays as it is, and switching back restores every byte.
"""

import re

from sandbox.errors import SandboxError
from sandbox.paths import CHECKOUT

FILE = CHECKOUT / "Pulumi.sandbox.yaml"
_MARK = "# CLUSTERS=2"
_OFF = re.compile(rf"^( *)# (.*{_MARK})$", re.MULTILINE)
_ON = re.compile(rf"^( *)(?!# )(\S.*{_MARK})$", re.MULTILINE)


def with_clusters(text: str, count: int) -> str:
    """Return the stack's file for that number of clusters."""
    if count == 1:
        return _ON.sub(r"\1# \2", text)
    if _MARK not in text:
        raise SandboxError(
            f"{FILE.name} has no lines that end in `{_MARK}`; restore them with: "
            f"git checkout {FILE.name}"
        )
    return _OFF.sub(r"\1\2", text)


def clusters() -> int:
    """Return for how many clusters the stack's file is."""
    return 2 if _ON.search(FILE.read_text()) else 1


def switch(count: int) -> None:
    """Write the stack's file for that number of clusters, unless it is so already."""
    before = FILE.read_text()
    after = with_clusters(before, count)
    if after != before:
        staged = FILE.with_name(f".{FILE.name}.new")
        staged.write_text(after)
        staged.replace(FILE)
