"""The pure rules of license and entitlements."""

import pytest

from coder_stack.coderd.errors import ForbiddenByRole, RouteAbsent, Unavailable
from coder_stack.coderd.license_problems import LicenseProblem
from coder_stack.coderd.models import EntitlementsRecord, Feature
from coder_stack.dynamic.entitlements import (
    EntitlementFacts,
    facts_of,
    facts_without_answer,
    features_in_grace,
)
from coder_stack.dynamic.license import split

EXPIRED = LicenseProblem("error", "Expired", "It expired.")
MISSING = LicenseProblem("error", "FeatureMissing", "It lacks x.")
GRACE = LicenseProblem("warning", "InGrace", "It is in grace.")


@pytest.mark.parametrize(
    ("applied", "errors", "warnings"),
    [(False, [EXPIRED, MISSING], [GRACE]), (True, [MISSING], [EXPIRED, GRACE])],
)
def test_L8_E5_what_forbids_a_new_license_is_a_warning_once_it_is_applied(
    applied: bool, errors: list[LicenseProblem], warnings: list[LicenseProblem]
) -> None:
    assert split([EXPIRED, MISSING, GRACE], applied=applied) == (errors, warnings)


def found(**features: Feature) -> EntitlementsRecord:
    return EntitlementsRecord.model_validate(
        {
            "features": features,
            "warnings": ["Your license expires in 3 days."],
            "errors": [],
            "has_license": True,
            "trial": False,
            "require_telemetry": False,
            "refreshed_at": "2026-01-01T00:00:00Z",
        }
    )


def test_E2_use_and_daily_warnings_are_no_facts() -> None:
    few = facts_of(found(user_limit=Feature(entitlement="entitled", limit=100, actual=1)))
    many = facts_of(found(user_limit=Feature(entitlement="entitled", limit=100, actual=99)))
    more = facts_of(found(user_limit=Feature(entitlement="entitled", limit=200, actual=1)))
    assert few == many
    assert few != more
    assert "expires in" not in few.model_dump_json()


def test_E3_features_in_grace_are_named() -> None:
    facts = facts_of(found(scim=Feature(entitlement="grace_period"), audit_log=Feature()))
    assert features_in_grace(facts) == ["scim"]


LAST = EntitlementFacts(tier="premium", has_license=True)


def test_E6_reasons_and_last_values() -> None:
    forbidden = facts_without_answer(ForbiddenByRole("read entitlements", "no."), LAST)
    assert (forbidden.tier, forbidden.stale, forbidden.reason) == ("premium", True, "Forbidden")
    down = facts_without_answer(Unavailable("read entitlements", "no."), LAST)
    assert (down.tier, down.reason) == ("premium", "EntitlementsQueryFailed")
    assert facts_without_answer(Unavailable("read entitlements", "no."), None).tier == "unknown"


def test_L7_a_build_without_licenses_is_an_answer() -> None:
    agpl = facts_without_answer(RouteAbsent("read entitlements", "no."), LAST)
    assert (agpl.tier, agpl.stale, agpl.reason) == ("none", False, "NotSupported")
