"""Section 6: entitlements, from memory and without any authentication."""

from sandbox.coderd.answers import Answer, as_json
from sandbox.coderd.call import Call
from sandbox.coderd.router import Router
from sandbox.coderd.rules.features import Feature
from sandbox.coderd.rules.go_text import timestamp


def add_routes(router: Router) -> None:
    """Routes of the enterprise build."""
    router.add("GET", "/entitlements", show_entitlements)


def show_entitlements(call: Call) -> Answer:
    """GET /entitlements."""
    known = call.world.entitlements
    return as_json(
        200,
        {
            "features": {name: shown(known.features[name]) for name in sorted(known.features)},
            "warnings": list(known.warnings),
            "errors": list(known.errors),
            "has_license": known.has_license,
            "trial": known.trial,
            "require_telemetry": known.require_telemetry,
            "refreshed_at": timestamp(known.refreshed_at),
        },
    )


def shown(feature: Feature) -> dict[str, object]:
    """A feature as the API shows it; what is not known is left out."""
    item: dict[str, object] = {"entitlement": feature.entitlement, "enabled": feature.enabled}
    numbers = {
        "limit": feature.limit,
        "actual": feature.actual,
        "soft_limit": feature.soft_limit,
    }
    item |= {name: value for name, value in numbers.items() if value is not None}
    if feature.usage_period:
        item["usage_period"] = {
            "issued_at": timestamp(feature.usage_period.issued_at),
            "start": timestamp(feature.usage_period.start),
            "end": timestamp(feature.usage_period.end),
        }
    return item
