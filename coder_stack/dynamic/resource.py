"""The program's side of a dynamic resource: which properties it has and which are secret.

Both are read off the provider's models, so that an output cannot be forgotten (it would not exist)
nor a secret one land in state in plain text (it would, unless named here).
"""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi import dynamic

from coder_stack.dynamic.provider import Provider

__all__ = ["CoderdResource"]


class CoderdResource(dynamic.Resource):
    """Subclass as `class License(CoderdResource, module="coder", name="License")`: both words.

    `props` are the inputs by wire name; None leaves a default. A secret input is encrypted even if
    the program passed it in the clear.
    """

    def __init__(
        self,
        provider: Provider,
        name: str,
        props: Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        state = provider.state_model
        secret = sorted({"token", *state.secret_fields(), *provider.inputs_model.secret_fields()})
        given = {
            key: pulumi.Output.secret(value) if key in secret and value is not None else value
            for key, value in props.items()
        }
        outputs: dict[str, Any] = dict.fromkeys(state.model_fields)
        super().__init__(
            provider,
            name,
            {**outputs, **given},
            pulumi.ResourceOptions.merge(
                opts, pulumi.ResourceOptions(additional_secret_outputs=secret)
            ),
        )
