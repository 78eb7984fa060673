"""Settings, components, exports: what `pulumi up` runs."""

import os

import pulumi
from pulumi.runtime import get_config_env, get_config_secret_keys_env

from coder_stack.cluster_apis import check_serves
from coder_stack.kubeconfig import check_answers
from coder_stack.outputs import exports
from coder_stack.settings import ConfigError, Settings, load
from coder_stack.stack import CoderStack, StackSecrets


def settings() -> Settings:
    """The checked config, or one message with every mistake, before anything is registered."""
    try:
        wanted = load(get_config_env(), pulumi.get_project(), get_config_secret_keys_env())
        check_answers(wanted.kubernetes, os.environ)
        check_serves(wanted)
    except ConfigError as error:
        raise pulumi.RunError(str(error)) from None
    return wanted


wanted = settings()
stack = CoderStack("coder", wanted, StackSecrets.of(pulumi.Config()))

for name, value in exports(stack, wanted).items():
    pulumi.export(name, value)
