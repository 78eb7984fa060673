"""What can go wrong with a tool, as people read it and as the sources tell each other.

ToolchainError is the only one that leaves the package. Unavailable stays inside: one source could
not give a tool, and its text becomes one line of the story that ToolchainError tells when the other
sources fail too.
"""

from sandbox.errors import SandboxError


class ToolchainError(SandboxError):
    """A tool cannot be had; the message names it, each source tried, and why each failed."""


class Unavailable(Exception):  # noqa: N818  # not an error by itself: the next source may have it
    """One source cannot give this tool; the text says why in half a sentence."""
