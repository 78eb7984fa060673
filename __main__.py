"""What `pulumi up` runs: check the settings, declare the stack, export its outputs."""

import os
import sys
from pathlib import Path

import pulumi
from pulumi.runtime import get_config_env, get_config_secret_keys_env

from coder_stack.cluster.kept_database import kept_databases, kept_hint
from coder_stack.cluster.preflight import check_answers, check_provides
from coder_stack.coderd.upgrade import UpgradePlan
from coder_stack.left_out import left_out
from coder_stack.outputs import exports
from coder_stack.program import run
from coder_stack.satellite import Coderd, with_other_stack
from coder_stack.settings import ConfigError, hints, load, namespace_of
from coder_stack.settings.stack_file import misplaced_keys
from coder_stack.stack import CoderStack, StackSecrets, own_marks

NAME = "coder"
LEFT_OUT = left_out(os.environ)

# Tells Pulumi's language host that the program has shown its error. After a pulumi.RunError it adds
# "an unhandled error occurred: program exited with non-zero exit code: 1".
_ERROR_WAS_SHOWN = 32


async def checked() -> tuple[Coderd, UpgradePlan]:
    """Return the settings and what they mean for coderd's version.

    End with all mistakes at once before anything is registered.
    """
    try:
        project = pulumi.get_project()
        ignored = misplaced_keys(Path(f"Pulumi.{pulumi.get_stack()}.yaml"), project)
        settings = load(get_config_env(), project, get_config_secret_keys_env(), found=ignored)
        check_answers(settings, os.environ, LEFT_OUT)
        coderd = await with_other_stack(settings)
        upgrade = check_provides(coderd.settings, own_marks(NAME), LEFT_OUT)
    except ConfigError as error:
        pulumi.log.error(str(error))
        sys.exit(_ERROR_WAS_SHOWN)
    for hint in (*hints(coderd.settings), *upgrade.warnings):
        pulumi.log.warn(hint)
    return coderd, upgrade


async def stack() -> CoderStack:
    """Declare the stack, and warn about databases that an earlier config has left."""
    (settings, deployment_id), upgrade = await checked()
    kept = kept_databases(settings)
    for name in kept:
        pulumi.log.warn(kept_hint(settings, name))
    config = pulumi.Config(namespace_of(get_config_env(), pulumi.get_project()))
    return CoderStack(
        NAME,
        settings,
        StackSecrets.of(config),
        kept_databases=bool(kept),
        upgrade=upgrade,
        left_out=LEFT_OUT,
        deployment_id=deployment_id,
    )


run(stack, exports)
