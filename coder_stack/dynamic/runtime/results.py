"""What a provider gives back to Pulumi after it has looked at coderd or changed it."""

from collections.abc import Generator
from contextlib import contextmanager

from pulumi import dynamic

from coder_stack.dynamic.runtime.props import Props, to_props
from coder_stack.dynamic.runtime.session import CoderdInputs, Session

__all__ = ["changing", "gone", "outputs"]


def gone() -> dynamic.ReadResult:
    """The object is not there any more, on a definite answer; None as bag would crash the SDK."""
    return dynamic.ReadResult("", {})


def outputs(state: CoderdInputs, own: Props) -> Props:
    """The whole bag. It holds no token, which has a home of its own.

    An earlier version kept a copy in every state: that stays until an update names the home.
    """
    kept = own.get("token") if state.connection.credential is None else None
    return {**({"token": kept} if kept else {}), **to_props(state)}


@contextmanager
def changing(session: Session) -> Generator[None]:
    """Whatever comes of it, lists that were fetched before are old now."""
    try:
        yield
    finally:
        session.lists.forget()
