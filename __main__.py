"""What `pulumi up` runs: check the settings, declare the stack, export its outputs."""

import os
import sys
from pathlib import Path

import pulumi
from pulumi.runtime import get_config_env, get_config_secret_keys_env

from coder_stack.cluster.kept_database import kept_databases, kept_hint
from coder_stack.cluster.preflight import check_answers, check_provides
from coder_stack.coderd.upgrade import UpgradePlan
from coder_stack.outputs import exports
from coder_stack.program import run
from coder_stack.settings import ConfigError, Settings, hints, load, namespace_of
from coder_stack.settings.stack_file import misplaced_keys
from coder_stack.stack import CoderStack, StackSecrets, namespace_mark

NAME = "coder"

# Tells Pulumi's language host that the program has shown its error. After a pulumi.RunError it adds
# "an unhandled error occurred: program exited with non-zero exit code: 1".
_ERROR_WAS_SHOWN = 32


def checked_settings() -> tuple[Settings, UpgradePlan]:
    """Return the settings and what they mean for coderd's version.

    End with all mistakes at once before anything is registered.
    """
    try:
        project = pulumi.get_project()
        ignored = misplaced_keys(Path(f"Pulumi.{pulumi.get_stack()}.yaml"), project)
        settings = load(get_config_env(), project, get_config_secret_keys_env(), found=ignored)
        check_answers(settings.kubernetes, os.environ)
        upgrade = check_provides(settings, namespace_mark(NAME))
    except ConfigError as error:
        pulumi.log.error(str(error))
        sys.exit(_ERROR_WAS_SHOWN)
    for hint in (*hints(settings), *upgrade.warnings):
        pulumi.log.warn(hint)
    return settings, upgrade


def stack() -> CoderStack:
    """Declare the stack, and warn about databases that an earlier config has left."""
    kept = kept_databases(settings)
    for name in kept:
        pulumi.log.warn(kept_hint(settings, name))
    config = pulumi.Config(namespace_of(get_config_env(), pulumi.get_project()))
    secrets = StackSecrets.of(config)
    return CoderStack(NAME, settings, secrets, kept_databases=bool(kept), upgrade=upgrade)


settings, upgrade = checked_settings()
run(stack, exports)
