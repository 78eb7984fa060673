"""Run a Pulumi program without what a large stack would notice: two delays, and long call stacks.

What the program declares is in __main__.py and stack.py.
"""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

import pulumi

T = TypeVar("T")

# Six are Pulumi's own: the state gets at least the call that made the resource, and its caller.
_FRAMES = 8


def run(
    declare: Callable[[], Awaitable[T]], exports: Callable[[T], dict[str, pulumi.Input[Any]]]
) -> None:
    """Declare the resources, and export what `exports` makes of them."""
    # Objects live as long as the program: looking for garbage takes a tenth of its time.
    gc.disable()

    async def main() -> dict[str, pulumi.Input[Any]]:
        with short_call_stacks():
            declared = await declare()
        # Let the registrations begin first. The SDK waits for each one that has begun; where none
        # has, it waits for all Outputs together, anew with each answer (a sixth of the preview).
        await asyncio.sleep(0)
        return exports(declared)

    pulumi.run(main)


@contextmanager
def short_call_stacks() -> Generator[None]:
    """Let Pulumi record only the end of the call stack with each resource.

    It would record all of it, down to asyncio and with this machine's paths: a fifth of the state,
    which every step of an update writes as a whole.
    """
    before = getattr(sys, "tracebacklimit", None)
    sys.tracebacklimit = _FRAMES
    try:
        yield
    finally:
        if before is None:
            del sys.tracebacklimit
        else:
            sys.tracebacklimit = before
