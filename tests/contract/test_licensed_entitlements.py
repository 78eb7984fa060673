"""coder-api.md section 6 with licenses: sets, limits, grace, merging.

Only the simulation can show this: a real server takes no license of ours.
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from sandbox.coderd.rules.license_key import LicenseTerms, issue
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.licensed, pytest.mark.xdist_group("contract")]

DAY = 86400
NEED_CONFIGURATION = {"browser_only", "scim", "external_token_encryption", "aibridge"}
LIMITS = {"user_limit", "managed_agent_limit", "ai_governance_user_limit"}


def only_licenses(server: Server, *terms: LicenseTerms) -> None:
    """Replace every license by these."""
    for item in server.owner("GET", "/licenses").json() or []:
        server.owner("DELETE", f"/licenses/{item['id']}")
    for each in terms:
        text = issue(each, datetime.now(UTC))
        answer = server.owner("POST", "/licenses", json={"license": text})
        assert answer.status_code == 201, answer.text


def shown(server: Server) -> dict[str, Any]:
    return server.api("GET", "/entitlements").json()


def entitled(server: Server) -> set[str]:
    found = shown(server)["features"]
    return {name for name, f in found.items() if f["entitlement"] != "not_entitled"}


def travel(server: Server, seconds: float) -> None:
    server.call("POST", "/_sim/clock", json={"advance_seconds": seconds})


def test_premium_is_every_boolean_feature_and_an_agent_limit(licensed: Server) -> None:
    body = shown(licensed)
    assert entitled(licensed) == set(body["features"]) - {"user_limit", "ai_governance_user_limit"}
    off = {n for n, f in body["features"].items() if not f["enabled"]}
    assert off == NEED_CONFIGURATION | {"user_limit", "ai_governance_user_limit"}
    agents = body["features"]["managed_agent_limit"]
    assert (agents["limit"], agents["soft_limit"], agents["actual"]) == (1000, 1000, 0)
    assert set(agents["usage_period"]) == {"issued_at", "start", "end"}


def test_enterprise_lacks_two_features_and_the_agent_limit(licensed: Server) -> None:
    only_licenses(licensed, LicenseTerms(feature_set="enterprise"))
    missing = set(shown(licensed)["features"]) - entitled(licensed)
    assert missing == LIMITS | {"multiple_organizations", "custom_roles"}


def test_features_one_by_one_with_warnings_for_those_switched_on_without(licensed: Server) -> None:
    terms = LicenseTerms(feature_set="", features={"workspace_proxy": 1, "scim": 0, "made_up": 1})
    only_licenses(licensed, terms)
    assert entitled(licensed) == {"workspace_proxy"}
    warnings = shown(licensed)["warnings"]
    text = (
        "External Provisioner Daemons is enabled but your license is not entitled to this feature."
    )
    assert text in warnings
    assert not any("Workspace Proxy" in warning for warning in warnings)


def test_a_user_limit_shows_limit_and_actual_and_warns_beyond(licensed: Server) -> None:
    only_licenses(licensed, LicenseTerms(features={"user_limit": 1}))
    limit = shown(licensed)["features"]["user_limit"]
    assert limit == {"entitlement": "entitled", "enabled": True, "limit": 1, "actual": 2}
    warning = "Your deployment has 2 active users but is only licensed for 1."
    assert warning in shown(licensed)["warnings"]


def test_an_agent_limit_comes_as_a_pair(licensed: Server) -> None:
    pair = {"managed_agent_limit_soft": 5, "managed_agent_limit_hard": 9}
    only_licenses(licensed, LicenseTerms(features=pair))
    agents = shown(licensed)["features"]["managed_agent_limit"]
    assert (agents["soft_limit"], agents["limit"]) == (5, 9)
    only_licenses(licensed, LicenseTerms(features={"managed_agent_limit": 9}))
    error = "Feature managed_agent_limit is forbidden to be set in a license."
    assert shown(licensed)["errors"] == [error]


def test_e3_grace_begins_when_the_license_expires_and_is_noticed_at_a_refresh(
    licensed: Server,
) -> None:
    only_licenses(licensed, LicenseTerms(days=1, grace_days=30))
    travel(licensed, DAY - 300)
    assert shown(licensed)["features"]["workspace_proxy"]["entitlement"] == "entitled"
    travel(licensed, 400)
    assert shown(licensed)["features"]["workspace_proxy"]["entitlement"] == "entitled"
    travel(licensed, 600)
    feature = shown(licensed)["features"]["workspace_proxy"]
    assert feature == {"entitlement": "grace_period", "enabled": True}
    warning = "Workspace Proxy is enabled but your license for this feature is expired."
    assert warning in shown(licensed)["warnings"]


def test_after_the_grace_everything_is_off_without_a_word(licensed: Server) -> None:
    only_licenses(licensed, LicenseTerms(days=1, grace_days=1))
    travel(licensed, 2 * DAY + 1)
    body = shown(licensed)
    assert (body["has_license"], body["warnings"], body["errors"]) == (False, [], [])
    assert entitled(licensed) == set()
    assert len(licensed.owner("GET", "/licenses").json()) == 1


def test_a_license_that_starts_later_is_silent_until_a_refresh_after_its_start(
    licensed: Server,
) -> None:
    only_licenses(licensed, LicenseTerms(nbf_days=1))
    body = shown(licensed)
    assert (body["has_license"], body["errors"], body["warnings"]) == (False, [], [])
    travel(licensed, DAY + 60)
    assert shown(licensed)["has_license"]


@pytest.mark.parametrize(
    ("days", "trial", "warning"),
    [
        (29, False, "Your license expires in 29 days."),
        (1, False, "Your license expires in 1 day."),
        (31, False, None),
        (10, True, None),
        (6, True, "Your license expires in 6 days."),
    ],
)
def test_the_end_is_announced(
    licensed: Server, days: int, trial: bool, warning: str | None
) -> None:
    only_licenses(licensed, LicenseTerms(days=days - 0.01, trial=trial))
    body = shown(licensed)
    assert body["trial"] is trial
    assert body["warnings"] == ([warning] if warning else [])


def test_no_warning_while_another_license_follows_without_a_gap(licensed: Server) -> None:
    only_licenses(licensed, LicenseTerms(days=10), LicenseTerms(days=300, nbf_days=9))
    assert shown(licensed)["warnings"] == []


def test_warnings_also_come_as_headers_to_those_who_may_know(licensed: Server) -> None:
    only_licenses(licensed, LicenseTerms(days=5.5))
    header = "x-coder-entitlements-warning"
    warning = "Your license expires in 6 days."
    assert licensed.owner("GET", "/users/me").headers.get_list(header) == [warning]
    assert header not in licensed.member("GET", "/users/me").headers
    assert header not in licensed.owner("GET", "/entitlements").headers


def test_of_two_licenses_sets_keep_the_better_and_single_features_the_later(
    licensed: Server,
) -> None:
    good, late = LicenseTerms(), LicenseTerms(days=-1, features={"workspace_proxy": 1})
    only_licenses(licensed, good, late)
    found = shown(licensed)["features"]
    assert found["external_provisioner_daemons"]["entitlement"] == "entitled"
    assert found["workspace_proxy"]["entitlement"] == "grace_period"
    only_licenses(licensed, late, good)
    assert shown(licensed)["features"]["workspace_proxy"]["entitlement"] == "entitled"


def test_the_higher_user_limit_wins(licensed: Server) -> None:
    terms = [LicenseTerms(features={"user_limit": limit}) for limit in (50, 10)]
    only_licenses(licensed, *terms)
    assert shown(licensed)["features"]["user_limit"]["limit"] == 50


def test_trial_is_what_the_last_license_says(licensed: Server) -> None:
    only_licenses(licensed, LicenseTerms(trial=True), LicenseTerms())
    assert not shown(licensed)["trial"]


def test_several_replicas_need_high_availability(licensed: Server) -> None:
    licensed.call("POST", "/_sim/settings", json={"replicas": 2})
    only_licenses(licensed)
    error = (
        "You have multiple replicas but high availability is an Enterprise feature. "
        "You will be unable to connect to workspaces."
    )
    assert shown(licensed)["errors"] == [error]


def test_reading_does_not_refresh_before_ten_minutes(licensed: Server) -> None:
    before = shown(licensed)["refreshed_at"]
    travel(licensed, 599 - 5)
    assert shown(licensed)["refreshed_at"] == before
    travel(licensed, 10)
    assert shown(licensed)["refreshed_at"] > before
