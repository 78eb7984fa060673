"""The error that the sandbox's commands show to users."""


class SandboxError(Exception):
    """A problem that the user can solve: names the object, the cause and the next step."""
