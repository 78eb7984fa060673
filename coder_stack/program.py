"""Run a Pulumi program without the two delays that a large stack would notice.

What the program declares is in __main__.py and stack.py.
"""

import asyncio
import gc
from collections.abc import Callable
from typing import Any, TypeVar

import pulumi

T = TypeVar("T")


def run(declare: Callable[[], T], exports: Callable[[T], dict[str, pulumi.Input[Any]]]) -> None:
    """Declare the resources, and export what `exports` makes of them."""
    # Objects live as long as the program: looking for garbage takes a tenth of its time.
    gc.disable()

    async def main() -> dict[str, pulumi.Input[Any]]:
        declared = declare()
        # Let the registrations begin first. The SDK waits for each one that has begun; where none
        # has, it waits for all Outputs together, anew with each answer (a sixth of the preview).
        await asyncio.sleep(0)
        return exports(declared)

    pulumi.run(main)
