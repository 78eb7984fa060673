"""What `pulumi up` runs: check the settings, declare the stack, export its outputs."""

import os

import pulumi
from pulumi.runtime import get_config_env, get_config_secret_keys_env

from coder_stack.cluster.preflight import check_answers, check_serves
from coder_stack.outputs import exports
from coder_stack.program import run
from coder_stack.settings import ConfigError, Settings, hints, load
from coder_stack.stack import CoderStack, StackSecrets


def checked_settings() -> Settings:
    """Return the settings; raise one error with all mistakes before anything is registered."""
    try:
        settings = load(get_config_env(), pulumi.get_project(), get_config_secret_keys_env())
        check_answers(settings.kubernetes, os.environ)
        check_serves(settings)
    except ConfigError as error:
        raise pulumi.RunError(str(error)) from None
    for hint in hints(settings):
        pulumi.log.warn(hint)
    return settings


settings = checked_settings()
run(lambda: CoderStack("coder", settings, StackSecrets.of(pulumi.Config())), exports)
