"""The program's side of a dynamic resource: which outputs it has and which are secret.

Outputs are what the class annotates: state holds more, but each one costs the program a promise.
"""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi import dynamic

from coder_stack.descriptors import Descriptor
from coder_stack.dynamic.runtime.provider import Provider


class CoderdResource(dynamic.Resource):
    """Subclass as `class License(CoderdResource, descriptor=LICENSE)`.

    `props` are the inputs by their names in Pulumi; None leaves a default. A secret input is
    encrypted even if the program passed it in the clear.
    """

    def __init_subclass__(cls, descriptor: Descriptor) -> None:
        super().__init_subclass__(  # pyright: ignore[reportUnknownMemberType]
            module="coder", name=descriptor.name
        )

    def __init__(
        self,
        provider: Provider,
        name: str,
        props: Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        secret = provider.descriptor.secret_outputs
        given = {
            key: pulumi.Output.secret(value)
            if key in (*secret, *provider.descriptor.secret_inputs)
            else value
            for key, value in props.items()
            if value is not None
        }
        super().__init__(
            provider,
            name,
            {**dict.fromkeys(type(self).__annotations__), **given},
            pulumi.ResourceOptions.merge(
                opts, pulumi.ResourceOptions(additional_secret_outputs=secret)
            ),
        )
