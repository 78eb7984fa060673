"""Entitlements, which need no authentication."""

from sandbox.coderd.request_context import RequestContext
from sandbox.coderd.responses import HttpResponse, as_json
from sandbox.coderd.router import Router
from sandbox.coderd.rules.features import FeatureGrant
from sandbox.coderd.rules.go_text import timestamp
from sandbox.coderd.rules.versions import lists_feature


def add_routes(router: Router) -> None:
    """Add the routes of the enterprise build."""
    router.add("GET", "/entitlements", show_entitlements)


def show_entitlements(ctx: RequestContext) -> HttpResponse:
    """Handle GET /entitlements."""
    known = ctx.state.entitlements
    return as_json(
        200,
        {
            "features": {
                name: to_json(feature)
                for name, feature in sorted(known.features.items())
                if lists_feature(ctx.state.flags.version, name)
            },
            "warnings": list(known.warnings),
            "errors": list(known.errors),
            "has_license": known.has_license,
            "trial": known.trial,
            "require_telemetry": known.require_telemetry,
            "refreshed_at": timestamp(known.refreshed_at),
        },
    )


def to_json(feature: FeatureGrant) -> dict[str, object]:
    """Return a feature as the API does, without unknown fields."""
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
