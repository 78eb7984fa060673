"""What provisioners and proxies need of the Operator component: connection and license."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from coder_stack.conditions import LicenseFacts


@dataclass(frozen=True, kw_only=True)
class OperatorHandle:
    """Operator access for other components."""

    connection: pulumi.Input[Mapping[str, Any]]
    deployment_id: pulumi.Input[str]
    """Unknown until operator access works, so that what depends on it waits."""
    license: pulumi.Output[LicenseFacts]

    def entitled(self, feature: str) -> pulumi.Output[bool]:
        """Tell whether the license allows the feature, grace included (E3)."""
        return self.license.apply(lambda known: known.allows(feature))
