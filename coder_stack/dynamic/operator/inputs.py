"""Inputs and state of operator access: models without I/O."""

from pydantic import SecretStr

from coder_stack.cluster.secret import SecretKeyRef
from coder_stack.dynamic.runtime.props import PropsSecret
from coder_stack.dynamic.runtime.session import CoderdInputs

TOKEN_NAME = "coder-stack"  # noqa: S105  # a name
"""Name of a created token, or the prefix of it."""


class OperatorAccessInputs(CoderdInputs):
    """What the program asks for, and what `check` adds to it."""

    make_token: bool = False
    """Create a token and store it in the Secret that `connection.credential` names."""
    username: str = "admin"
    email: str = "admin@example.com"
    password_secret: SecretKeyRef | None = None
    """Where the first user's password is, unless it is the stack config's `initialPassword`."""
    owner: str = ""
    """The stack, if several use one coderd; part of a generated token name."""
    token_name: str = ""
    token_days: int = 365
    wait_seconds: int = 180
    # Added by check:
    given: str = ""
    """Fingerprint of the given token, or empty."""
    password_hash: PropsSecret = SecretStr("")
    """Hash of the declared password, so that a changed one is verified."""
    accepted: bool = True
    """Always true in the program; a refresh finds out whether coderd accepts the token."""


class OperatorAccessState(OperatorAccessInputs):
    """With the user and the deployment. `token_id` is the public part of the token."""

    url: str = ""
    deployment_id: str = ""
    version: str = ""
    user: str = ""
    token_id: str = ""
    reason: str = ""
    """Why the token is not accepted: Forbidden or SecretMissing; else empty."""
    token: PropsSecret | None = None
    password: PropsSecret | None = None
    """Both only in states of an earlier version; the next update moves them to the Secret."""


def choose_token_name(want: OperatorAccessInputs, old: OperatorAccessInputs | None) -> str:
    """Return the given name, the former one, or a new one that no other stack uses."""
    if want.token_name:
        return want.token_name
    if old is not None and old.token_name:
        return old.token_name
    return f"{TOKEN_NAME}-{want.owner}" if want.owner else TOKEN_NAME
