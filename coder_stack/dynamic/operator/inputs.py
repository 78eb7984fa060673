"""What operator access is given, and what is kept of it. Models; no I/O."""

from pydantic import SecretStr

from coder_stack.cluster.secret import SecretKeyRef
from coder_stack.dynamic.runtime.props import PropsSecret
from coder_stack.dynamic.runtime.session import CoderdInputs

__all__ = ["TOKEN_NAME", "OperatorAccessInputs", "OperatorAccessState", "settled_token_name"]

TOKEN_NAME = "coder-stack"  # noqa: S105  # a name
"""Of a token that is made, or its beginning."""


class OperatorAccessInputs(CoderdInputs):
    """What the program asks for, and below the line what `check` made of it."""

    make_token: bool = False
    """Make a token and keep it in the Secret that `connection.credential` names."""
    username: str = "admin"
    email: str = "admin@example.com"
    password_secret: SecretKeyRef | None = None
    """Where the first user's password is, unless it is the stack config's `initialPassword`."""
    owner: str = ""
    """Tells this stack from others on the same coderd; part of a generated token name."""
    token_name: str = ""
    token_days: int = 365
    wait_seconds: int = 180
    # Settled by check:
    given: str = ""
    """A fingerprint of the token that was given, or empty."""
    password_hash: PropsSecret = SecretStr("")
    """Of the declared password: another one is tried before it is relied on."""
    accepted: bool = True
    """The program always wants true; a refresh finds out whether coderd takes the token."""


class OperatorAccessState(OperatorAccessInputs):
    """With who it is and where. `token_id` is the token's public half."""

    url: str = ""
    deployment_id: str = ""
    version: str = ""
    user: str = ""
    token_id: str = ""
    reason: str = ""
    """Why the token is not accepted: Forbidden or SecretMissing; else empty."""
    token: PropsSecret | None = None
    password: PropsSecret | None = None
    """Both only in states of an earlier version; the next update moves them to their home."""


def settled_token_name(want: OperatorAccessInputs, old: OperatorAccessInputs | None) -> str:
    """The given name, the one it has, or a new one that no other stack uses."""
    if want.token_name:
        return want.token_name
    if old is not None and old.token_name:
        return old.token_name
    return f"{TOKEN_NAME}-{want.owner}" if want.owner else TOKEN_NAME
