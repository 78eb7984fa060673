"""Licensed features that the program uses, and when coderd's license allows one (E3). Pure."""

EXTERNAL_PROVISIONERS = "external_provisioner_daemons"
HIGH_AVAILABILITY = "high_availability"
MULTIPLE_ORGANIZATIONS = "multiple_organizations"
WORKSPACE_PROXIES = "workspace_proxy"
GRACE_PERIOD = "grace_period"


def is_entitled(entitlement: object) -> bool:
    """Tell whether a feature with this entitlement may be used; grace counts."""
    return entitlement in ("entitled", GRACE_PERIOD)
