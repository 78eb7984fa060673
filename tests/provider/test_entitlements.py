"""Entitlements through the real provider process: the live look, and what it leaves out."""

from typing import Any

import pytest

from coder_stack.dynamic.entitlements import EntitlementsProvider
from tests.provider.driver import UNKNOWN, Driven, ProviderProcess
from tests.simulation import Simulation, license_text, simulated

FACTS = {"tier", "has_license", "features", "errors", "stale", "reason"}
MOVING = ("usage", "warnings", "checked_at")


@pytest.fixture
def driven(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(EntitlementsProvider())


def inputs(coderd: Simulation, **more: Any) -> dict[str, Any]:
    return {"connection": coderd.connection, **more}


def test_E1_check_reads_live_every_feature_and_the_tier(
    licensed: Simulation, driven: Driven
) -> None:
    checked = driven.check(inputs(licensed))
    assert checked.failures == []
    assert set(checked.inputs) == {"connection", "deployment_id", *FACTS}
    assert checked.inputs["tier"] == "premium"
    assert len(checked.inputs["features"]) == 26
    proxy = checked.inputs["features"]["workspace_proxy"]
    assert proxy == {"entitlement": "entitled", "enabled": True}
    assert checked.inputs["features"]["managed_agent_limit"]["limit"] == 1000


@pytest.mark.parametrize(
    ("terms", "tier"),
    [
        (None, "none"),
        ({"feature_set": "premium"}, "premium"),
        ({"feature_set": "enterprise"}, "enterprise"),
        ({"trial": True}, "trial"),
    ],
)
def test_E1_tiers(coderd: Simulation, driven: Driven, terms: Any, tier: str) -> None:
    if terms is not None:
        coderd.act("POST", "/api/v2/licenses", {"license": license_text(**terms)})
    assert driven.check(inputs(coderd)).inputs["tier"] == tier


def test_E2_time_and_users_move_outputs_and_no_input(licensed: Simulation, driven: Driven) -> None:
    held = driven.create(inputs(licensed))
    assert held.outputs["usage"]["user_limit"] == 1
    assert held.outputs["checked_at"]
    licensed.act("POST", "/_sim/clock", {"advance_seconds": 3600})
    licensed.act("POST", "/_sim/users", {"username": "newcomer"})
    licensed.state.refresh_entitlements()

    assert driven.check(inputs(licensed), held.inputs).inputs == held.inputs
    seen = driven.read(held)
    assert seen is not None
    assert seen.inputs == held.inputs
    assert seen.outputs["usage"]["user_limit"] == 2


def test_E2_a_changed_entitlement_is_a_changed_input_both_ways(
    coderd: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(coderd))
    number = coderd.act("POST", "/api/v2/licenses", {"license": license_text()})["id"]
    with_license = driven.check(inputs(coderd), held.inputs).inputs
    assert with_license["features"]["workspace_proxy"]["entitlement"] == "entitled"
    now = driven.update(held, inputs(coderd))
    assert set(now.outputs) == set(held.outputs)
    assert now.outputs["tier"] == "premium"

    coderd.act("DELETE", f"/api/v2/licenses/{number}")
    seen = driven.read(now)
    assert seen is not None
    assert seen.inputs == held.inputs
    assert driven.diff(now, held.inputs).replaces == []


def test_E3_grace_counts_as_entitled_and_is_a_warning(
    coderd: Simulation, process: ProviderProcess
) -> None:
    coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=-1)})
    checked = process.of(EntitlementsProvider()).check(inputs(coderd))
    assert checked.inputs["tier"] == "premium"
    assert checked.inputs["features"]["workspace_proxy"]["entitlement"] == "grace_period"
    assert "warning: entitlements, check: in grace, renew the license: " in process.stderr


@pytest.mark.parametrize(
    ("status", "reason"),
    [(401, "Forbidden"), (403, "Forbidden"), (500, "EntitlementsQueryFailed")],
)
def test_E6_without_an_answer_the_last_values_stay_stale_with_a_reason(
    licensed: Simulation, driven: Driven, status: int, reason: str
) -> None:
    held = driven.create(inputs(licensed))
    licensed.refuse(status, "Forbidden.", "/api/v2/entitlements", count=-1)

    stale = {**held.inputs, "stale": True, "reason": reason}
    assert driven.check(inputs(licensed), held.inputs).inputs == stale
    seen = driven.read(held)
    assert seen is not None
    assert seen.inputs == stale
    assert seen.outputs["checked_at"] == held.outputs["checked_at"]

    licensed.peace()
    assert driven.check(inputs(licensed), stale).inputs == held.inputs


def test_E6_S2_an_update_without_an_answer_keeps_usage_warnings_and_when_they_were_read(
    coderd: Simulation, driven: Driven
) -> None:
    """An `up` that meets a coderd without an answer must not forget what a look had told."""
    coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=-1)})
    held = driven.create(inputs(coderd))
    told = {name: held.outputs[name] for name in MOVING}
    assert all(told.values()), "usage, a warning of the grace period, and a time"

    coderd.refuse(500, "oops", "/api/v2/entitlements", count=-1)
    stale = driven.update(held, inputs(coderd))
    assert stale.outputs["stale"] is True
    assert {name: stale.outputs[name] for name in MOVING} == told

    coderd.peace()
    coderd.act("POST", "/_sim/users", {"username": "newcomer"})
    coderd.state.refresh_entitlements()
    fresh = driven.update(stale, inputs(coderd))
    assert fresh.outputs["stale"] is False
    assert fresh.outputs["usage"]["user_limit"] == told["usage"]["user_limit"] + 1


@pytest.mark.parametrize("kind", ["garbage", "html"])
def test_E6_U1_what_is_not_coderd_leaves_the_last_values(
    licensed: Simulation, driven: Driven, kind: str
) -> None:
    held = driven.create(inputs(licensed))
    licensed.fault(kind, "/api/v2/entitlements", count=-1, status=200)
    checked = driven.check(inputs(licensed), held.inputs).inputs
    assert (checked["tier"], checked["stale"]) == ("premium", True)


def test_E1_E6_never_read_is_unknown_and_stale(coderd: Simulation, driven: Driven) -> None:
    coderd.refuse(500, "oops", "/api/v2/entitlements", count=-1)
    held = driven.create(inputs(coderd))
    assert (held.outputs["tier"], held.outputs["stale"]) == ("unknown", True)


def test_L7_an_agpl_build_is_tier_none_NotSupported_and_not_stale(driven: Driven) -> None:
    with simulated(agpl=True) as agpl:
        held = driven.create(inputs(agpl))
        assert (held.outputs["tier"], held.outputs["reason"]) == ("none", "NotSupported")
        assert held.outputs["stale"] is False
        seen = driven.read(held)
        assert seen is not None
        assert seen.inputs == held.inputs


def test_while_the_connection_is_unknown_so_are_the_facts(driven: Driven) -> None:
    checked = driven.check({"connection": {"url": UNKNOWN}})
    assert checked.failures == []
    assert {checked.inputs[name] for name in FACTS} == {UNKNOWN}


@pytest.mark.parametrize("there", [False, True])
def test_E4_a_first_preview_before_access_exists_claims_nothing(
    coderd: Simulation, process: ProviderProcess, there: bool
) -> None:
    """Provisioners would else be shown as closed, though the update itself opens them."""
    url = coderd.url if there else "http://127.0.0.1:1"
    driven = process.of(EntitlementsProvider())
    checked = driven.check({"connection": {"url": url}, "deployment_id": UNKNOWN})
    assert {checked.inputs[name] for name in FACTS} == {UNKNOWN}
    assert process.stderr == ""


def test_E6_once_access_exists_an_answer_that_is_missing_is_told(process: ProviderProcess) -> None:
    """In an update nothing may stay unknown."""
    nobody = {"connection": {"url": "http://127.0.0.1:1"}, "deployment_id": "some-id"}
    found = process.of(EntitlementsProvider()).check(nobody).inputs
    assert (found["tier"], found["stale"]) == ("unknown", True)
    assert "EntitlementsQueryFailed: entitlements, check: " in process.stderr


def test_CP6_a_preview_that_renews_the_token_shows_no_change_of_the_facts(
    licensed: Simulation, driven: Driven
) -> None:
    """Then the deployment's id is unknown to Pulumi, but coderd tells it."""
    given = inputs(licensed, deployment_id=licensed.state.records.deployment_id)
    held = driven.create(given)
    assert driven.check({**given, "deployment_id": UNKNOWN}, held.inputs).inputs == held.inputs


def test_while_the_connection_is_unknown_the_last_facts_stay_and_are_marked(
    licensed: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(licensed))
    checked = driven.check({"connection": {"url": UNKNOWN}}, held.inputs).inputs
    assert (checked["tier"], checked["stale"], checked["reason"]) == ("premium", True, "Pending")
    assert checked["features"] == held.inputs["features"]


def test_no_token_is_needed_and_nothing_is_ever_changed(coderd: Simulation, driven: Driven) -> None:
    held = driven.create({"connection": coderd.connection})
    driven.read(held)
    driven.delete(held)
    assert all(request.startswith("GET ") for request in coderd.requests())
