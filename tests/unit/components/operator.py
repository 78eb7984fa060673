"""An operator handle for components under test, with a license that allows what a test says."""

from typing import Any

import pulumi

from coder_stack.components.operator_handle import OperatorHandle

TOKEN = "operator-token"


def operator(*features: str, entitlement: str = "entitled") -> OperatorHandle:
    """Coderd v2.30.0 behind a URL; without features it is unlicensed."""
    facts: dict[str, Any] = {
        "features": {name: {"entitlement": entitlement, "enabled": True} for name in features},
        "tier": "premium" if features else "none",
        "stale": False,
        "reason": "",
    }
    return OperatorHandle(
        connection={"url": "https://coder.test"},
        token=pulumi.Output.secret(TOKEN),
        deployment_id="d-1",
        version="v2.30.0",
        facts=pulumi.Output.from_input(facts),
    )
