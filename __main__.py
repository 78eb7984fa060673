"""Settings, components, exports: what `pulumi up` runs."""

import asyncio
import gc
import os
from typing import Any

import pulumi
from pulumi.runtime import get_config_env, get_config_secret_keys_env

from coder_stack.cluster.apis import check_serves
from coder_stack.cluster.preflight import check_answers
from coder_stack.outputs import exports
from coder_stack.settings import ConfigError, Settings, hints, load
from coder_stack.stack import CoderStack, StackSecrets


def settings() -> Settings:
    """The checked config, or one message with every mistake, before anything is registered.

    What only may be a mistake is a warning.
    """
    try:
        wanted = load(get_config_env(), pulumi.get_project(), get_config_secret_keys_env())
        check_answers(wanted.kubernetes, os.environ)
        check_serves(wanted)
    except ConfigError as error:
        raise pulumi.RunError(str(error)) from None
    for hint in hints(wanted):
        pulumi.log.warn(hint)
    return wanted


# What the program makes lives as long as it does: looking for garbage takes a tenth of its time.
gc.disable()
wanted = settings()


async def main() -> dict[str, pulumi.Input[Any]]:
    """Everything is declared at once; then it is the registrations' turn."""
    stack = CoderStack("coder", wanted, StackSecrets.of(pulumi.Config()))
    # Before the SDK waits for them: it waits for a registration that has begun, but for all Outputs
    # together where none has, and that anew with each answer (a sixth of a large stack's preview).
    await asyncio.sleep(0)
    return exports(stack, wanted)


pulumi.run(main)
