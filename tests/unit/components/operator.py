"""An operator handle for components under test, with a license that allows what a test says."""

import pulumi

from coder_stack.components.parts.operator_handle import OperatorHandle
from coder_stack.conditions import LicenseFacts


def operator(*features: str, entitlement: str = "entitled") -> OperatorHandle:
    """Return a handle; without features coderd is unlicensed."""
    license_ = LicenseFacts(
        features={name: {"entitlement": entitlement, "enabled": True} for name in features},
        tier="premium" if features else "none",
    )
    return OperatorHandle(
        connection={"url": "https://coder.test"},
        deployment_id="d-1",
        license=pulumi.Output.from_input(license_),
    )
