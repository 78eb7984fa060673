"""Which licensed features the config needs, and whether the license allows them (E4). Pure.

For the check of a license before its upload, and for the stack's output `needs`.
"""

from collections.abc import Mapping
from typing import Any

from coder_stack.conditions import LicenseFacts
from coder_stack.features import (
    EXTERNAL_PROVISIONERS,
    HIGH_AVAILABILITY,
    MULTIPLE_ORGANIZATIONS,
    WORKSPACE_PROXIES,
)
from coder_stack.settings import Settings

__all__ = ["needed_features", "needs_output"]


def needed_features(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return each needed feature with what in the config needs it."""
    organizations = sorted({each.organization for each in settings.provisioners})
    found = {
        HIGH_AVAILABILITY: (
            ("controlPlane.replicas",) if settings.control_plane.replicas > 1 else ()
        ),
        EXTERNAL_PROVISIONERS: tuple(f"provisioner/{p.name}" for p in settings.provisioners),
        WORKSPACE_PROXIES: tuple(f"proxy/{p.name}" for p in settings.proxies),
        # One organization needs no license, whatever its name.
        MULTIPLE_ORGANIZATIONS: (
            tuple(f"organization/{name}" for name in organizations)
            if len(organizations) > 1
            else ()
        ),
    }
    return {feature: users for feature, users in found.items() if users}


def needs_output(
    needed: Mapping[str, tuple[str, ...]], license_: LicenseFacts
) -> list[dict[str, Any]]:
    """Return each needed feature with its entitlement."""
    return [
        {
            "feature": feature,
            "neededBy": list(users),
            "entitlement": license_.features.get(feature, {}).get("entitlement", "unknown"),
            "entitled": license_.allows(feature),
        }
        for feature, users in sorted(needed.items())
    ]
