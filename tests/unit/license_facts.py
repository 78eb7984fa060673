"""Facts about a license, and what a condition says, for the tests of conditions."""

from typing import Any

from coder_stack.conditions import (
    Condition,
    LicenseFacts,
)

FEATURE = "workspace_proxy"


def said(condition: Condition) -> tuple[str, str]:
    return condition.status, condition.reason


def facts(entitlement: str | None = "entitled", **more: Any) -> LicenseFacts:
    features = {FEATURE: {"entitlement": entitlement}} if entitlement else {}
    return LicenseFacts(**{"features": features, "tier": "premium", **more})
