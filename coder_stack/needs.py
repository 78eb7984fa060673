"""Which licensed features the declared stack needs, and whether they are there: the ledger (E4).

Pure. The list goes into the license's pre-flight and into the stack's outputs. Leaves alone what
happens while a feature is missing: gates are in dynamic/ and components/.
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

__all__ = [
    "ledger",
    "needs",
]


def needs(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Feature → what in the config needs it."""
    organizations = sorted({each.organization for each in settings.provisioners})
    found = {
        HIGH_AVAILABILITY: (
            ("controlPlane.replicas",) if settings.control_plane.replicas > 1 else ()
        ),
        EXTERNAL_PROVISIONERS: tuple(f"provisioner/{p.name}" for p in settings.provisioners),
        WORKSPACE_PROXIES: tuple(f"proxy/{p.name}" for p in settings.proxies),
        # One organization is there without a license, whatever it is called.
        MULTIPLE_ORGANIZATIONS: (
            tuple(f"organization/{name}" for name in organizations)
            if len(organizations) > 1
            else ()
        ),
    }
    return {feature: who for feature, who in found.items() if who}


def ledger(needed: Mapping[str, tuple[str, ...]], license_: LicenseFacts) -> list[dict[str, Any]]:
    """Each needed feature with what coderd says about it."""
    return [
        {
            "feature": feature,
            "neededBy": list(who),
            "entitlement": license_.features.get(feature, {}).get("entitlement", "unknown"),
            "entitled": license_.allows(feature),
        }
        for feature, who in sorted(needed.items())
    ]
