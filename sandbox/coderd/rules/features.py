"""The features of licenses: names, feature sets, and which of two grants is better."""

from dataclasses import dataclass, replace
from datetime import datetime

ENTITLED, GRACE, NOT_ENTITLED = "entitled", "grace_period", "not_entitled"
_WEIGHT = {ENTITLED: 2, GRACE: 1, NOT_ENTITLED: -1}

NAMES = (
    "user_limit",
    "audit_log",
    "connection_log",
    "browser_only",
    "scim",
    "template_rbac",
    "high_availability",
    "multiple_external_auth",
    "external_provisioner_daemons",
    "appearance",
    "advanced_template_scheduling",
    "workspace_proxy",
    "user_role_management",
    "external_token_encryption",
    "workspace_batch_actions",
    "task_batch_actions",
    "access_control",
    "control_shared_ports",
    "custom_roles",
    "multiple_organizations",
    "workspace_prebuilds",
    "managed_agent_limit",
    "workspace_external_agent",
    "aibridge",
    "boundary",
    "ai_governance_user_limit",
)
USER_LIMIT = "user_limit"
AGENT_LIMIT = "managed_agent_limit"
LIMITS = frozenset({USER_LIMIT, AGENT_LIMIT, "ai_governance_user_limit"})
PREMIUM_ONLY = frozenset({"multiple_organizations", "custom_roles"})
# These also need configuration, which the simulation does not have.
NEED_CONFIGURATION = frozenset({"browser_only", "scim", "external_token_encryption", "aibridge"})
# Enabled by default, so coderd warns if a license does not include one.
SWITCHED_ON = frozenset(
    {
        "audit_log",
        "connection_log",
        "template_rbac",
        "external_provisioner_daemons",
        "advanced_template_scheduling",
        "workspace_proxy",
        "user_role_management",
        "access_control",
        "control_shared_ports",
    }
)


@dataclass(frozen=True)
class UsagePeriod:
    """The term of a license, for features whose usage is counted."""

    issued_at: datetime
    start: datetime
    end: datetime


@dataclass(frozen=True)
class FeatureGrant:
    """The state of one feature; fields that are None are not in coderd's JSON."""

    entitlement: str = NOT_ENTITLED
    enabled: bool = False
    limit: int | None = None
    actual: int | None = None
    soft_limit: int | None = None
    usage_period: UsagePeriod | None = None


def of_set(name: str) -> tuple[str, ...]:
    """Return the features of a feature set that are not limits."""
    boolean = tuple(feature for feature in NAMES if feature not in LIMITS)
    if name.lower() == "premium":
        return boolean
    if name.lower() == "enterprise":
        return tuple(feature for feature in boolean if feature not in PREMIUM_ONLY)
    return ()


def humanized(name: str) -> str:
    """Return the feature's name in messages."""
    special = {"template_rbac": "Template RBAC", "scim": "SCIM"}
    return special.get(name) or name.replace("_", " ").title()


def enabled_when_entitled(name: str) -> bool:
    """Return whether an entitlement is enough to enable the feature."""
    return name not in NEED_CONFIGURATION


def better(new: FeatureGrant, old: FeatureGrant, name: str) -> FeatureGrant:
    """Return the better grant; with a usage period, that of the later license."""
    if name == AGENT_LIMIT and new.usage_period is None:
        return old
    if name != AGENT_LIMIT:
        new = replace(new, usage_period=None)
    return new if _rank_against(new, old) > 0 else old


def _rank_against(new: FeatureGrant, old: FeatureGrant) -> int:
    if new.usage_period and old.usage_period:
        ours = (new.usage_period.issued_at, new.usage_period.end)
        theirs = (old.usage_period.issued_at, old.usage_period.end)
        if ours != theirs:
            return 1 if ours > theirs else -1
    if new.entitlement != NOT_ENTITLED != old.entitlement and _capable(new) != _capable(old):
        # A sufficient limit wins, even in its grace period.
        return 1 if _capable(new) else -1
    ours = (_WEIGHT[new.entitlement], _known(new.limit), new.enabled, _known(new.actual))
    theirs = (_WEIGHT[old.entitlement], _known(old.limit), old.enabled, _known(old.actual))
    return (ours > theirs) - (ours < theirs)


def _capable(feature: FeatureGrant) -> bool:
    return feature.limit is None or feature.actual is None or feature.limit >= feature.actual


def _known(number: int | None) -> int:
    return -1 if number is None else number
