"""Which licensed features the config needs, and whether the license allows them (E4). Pure.

For the check of a license before its upload, and for `coder-stack outputs needs`.
"""

from collections.abc import Mapping
from typing import Any

from coder_stack.conditions import LicenseFacts
from coder_stack.descriptors import DESCRIPTORS
from coder_stack.features import HIGH_AVAILABILITY, MULTIPLE_ORGANIZATIONS
from coder_stack.settings import Settings


def needed_features(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return each needed feature with what in the config needs it."""
    replicas = settings.control_plane.replicas
    found: dict[str, tuple[str, ...]] = {
        HIGH_AVAILABILITY: ("controlPlane.replicas",) if replicas > 1 else ()
    }
    # In a fixed order, which states hold as an input of the license.
    for each in DESCRIPTORS.values():
        if each.feature and each.config_list:
            listed = getattr(settings, each.config_list)
            found[each.feature] = tuple(f"{each.component}/{item.name}" for item in listed)
    used = {each.organization for each in settings.provisioners}
    # One organization needs no license, whatever its name.
    if len(used) > 1:
        named = {f"organization/{name}" for name in used}
        found[MULTIPLE_ORGANIZATIONS] = tuple(sorted({*found[MULTIPLE_ORGANIZATIONS], *named}))
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
