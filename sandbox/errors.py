"""The one error that the sandbox shows to people."""


class SandboxError(Exception):
    """Something a person can act on: a sentence with the thing, the cause and the next step."""
