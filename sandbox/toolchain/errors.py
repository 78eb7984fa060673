"""The toolchain's errors. Only ToolchainError leaves the package.

If all sources of a tool fail, its message lists the text of each SourceUnavailable.
"""

from sandbox.errors import SandboxError


class ToolchainError(SandboxError):
    """A tool cannot be installed; the message says why each source failed."""


class SourceUnavailable(Exception):  # noqa: N818  # not an error by itself: the next source may have it
    """One source cannot provide a tool; the text is the reason as part of a sentence."""
