"""What the operator's access gives to the components that live on a license.

A way to coderd, which deployment answers there, and what the license allows. The Operator component
makes one; provisioners and proxies take it. Leaves alone how access is won and where its token is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from coder_stack.conditions import LicenseFacts

__all__ = ["OperatorHandle"]


@dataclass(frozen=True, kw_only=True)
class OperatorHandle:
    """Operator access, as other components see it."""

    connection: pulumi.Input[Mapping[str, Any]]
    deployment_id: pulumi.Input[str]
    """Known once operator access works: what takes it waits for that."""
    version: pulumi.Input[str]
    """Of coderd."""
    license: pulumi.Output[LicenseFacts]

    def entitled(self, feature: str) -> pulumi.Output[bool]:
        """Whether the license allows it, grace included (E3)."""
        return self.license.apply(lambda known: known.allows(feature))
