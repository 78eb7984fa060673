"""Workspace proxy registrations through the real provider process, against the simulated coderd."""

from typing import Any

import httpx
import pytest

from coder_stack.dynamic.runtime.licensed import NOT_PROVISIONED
from coder_stack.dynamic.workspace_proxy import WorkspaceProxyRegistrationProvider
from tests.provider.driver import (
    UNKNOWN,
    Driven,
    Failure,
    Held,
    ProviderProcess,
    Said,
    provider_process,
)
from tests.simulation import Simulation

PROXIES = "/api/v2/workspaceproxies"


@pytest.fixture
def proxies(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(WorkspaceProxyRegistrationProvider())


def inputs(coderd: Simulation, **more: Any) -> dict[str, Any]:
    given = {"connection": coderd.connection, "name": "sydney"}
    return {**given, "display_name": "Sydney", "icon": "/emojis/1f998.png", **more}


def living(coderd: Simulation) -> list[str]:
    return [p.id for p in coderd.state.records.proxies.values() if not p.deleted]


def token_of(held: Held) -> str:
    return held.outputs["proxy_token"]


def test_W1_one_request_registers_and_the_token_works(
    licensed: Simulation, proxies: Driven
) -> None:
    held = proxies.create(inputs(licensed))
    assert licensed.requests() == [f"POST {PROXIES}"]
    assert living(licensed) == [held.id]
    assert licensed.accepts_proxy(token_of(held))
    assert held.outputs["status"] == "unregistered"


def test_W1_without_looks_it_gets_some_because_coderd_could_never_change_it_otherwise(
    licensed: Simulation, proxies: Driven
) -> None:
    plain = inputs(licensed, display_name=None, icon=None)
    held = proxies.create(plain)
    assert (held.outputs["display_name"], held.outputs["icon"]) == ("sydney", "/emojis/1f30e.png")
    assert proxies.check(plain, held.inputs).inputs == held.inputs

    assert licensed.accepts_proxy(token_of(proxies.update(held, {**plain, "trigger": "now"})))


@pytest.mark.parametrize("name", ["", "primary", "ME", "a/b", " a"])
def test_W1_a_name_that_coderd_refuses_fails_in_preview(
    licensed: Simulation, proxies: Driven, name: str
) -> None:
    (failure,) = proxies.check(inputs(licensed, name=name)).failures
    assert failure[0] == "name"


def test_unknown_values_pass_through_check(licensed: Simulation, proxies: Driven) -> None:
    checked = proxies.check(inputs(licensed, display_name=UNKNOWN, enabled=UNKNOWN))
    assert checked.failures == []
    assert (checked.inputs["display_name"], checked.inputs["enabled"]) == (UNKNOWN, UNKNOWN)


def test_W1_looks_are_changed_in_place_and_the_token_stays(
    licensed: Simulation, proxies: Driven
) -> None:
    held = proxies.create(inputs(licensed))
    news = inputs(licensed, name="melbourne", display_name="Melbourne", icon="/emojis/1f3be.png")
    assert proxies.diff(held, proxies.check(news, held.inputs).inputs).replaces == []
    after = proxies.update(held, news)

    proxy = licensed.state.records.proxies[held.id]
    assert (proxy.name, proxy.display_name, proxy.icon) == (
        "melbourne",
        "Melbourne",
        "/emojis/1f3be.png",
    )
    assert token_of(after) == token_of(held)
    assert after.outputs.keys() == held.outputs.keys()


@pytest.mark.parametrize("fault", [None, "drop_before", "drop_after"])
def test_W1_another_trigger_makes_another_token_even_if_an_answer_is_lost(
    licensed: Simulation, proxies: Driven, fault: str | None
) -> None:
    held = proxies.create(inputs(licensed))
    if fault:
        licensed.fault(fault, f"{PROXIES}/*", method="PATCH")
    after = proxies.update(held, inputs(licensed, trigger="leaked"))
    assert licensed.accepts_proxy(token_of(after))
    assert not licensed.accepts_proxy(token_of(held))
    assert after.outputs["proxy_token_sha256"] != held.outputs["proxy_token_sha256"]


def test_W1_drift_of_the_looks_is_named(licensed: Simulation, proxies: Driven) -> None:
    held = proxies.create(inputs(licensed))
    proxy = licensed.state.records.proxies[held.id]
    proxy.display_name, proxy.icon = "Edited", "/x.png"
    seen = proxies.read(held)
    assert seen is not None
    assert seen.inputs == {**held.inputs, "display_name": "Edited", "icon": "/x.png"}


def test_W1_a_proxy_that_starts_is_no_drift(licensed: Simulation, proxies: Driven) -> None:
    held = proxies.create(inputs(licensed))
    announced = {
        "access_url": "https://syd.example.com",
        "derp_enabled": True,
        "replica_id": "6a1f5f0e-6c2b-4c47-9d34-0d7c1a7e2b11",
        "version": "v2.30.0",
    }
    httpx.post(
        f"{licensed.url}{PROXIES}/me/register",
        json=announced,
        headers={"Coder-External-Proxy-Token": token_of(held)},
        trust_env=False,
    ).raise_for_status()
    seen = proxies.read(held)
    assert seen is not None
    assert seen.inputs == held.inputs
    assert (seen.outputs["status"], seen.outputs["version"]) == ("ok", "v2.30.0")
    assert seen.outputs["proxy_url"] == "https://syd.example.com"


def test_W1_a_deleted_proxy_is_gone_although_coderd_still_shows_it_by_id(
    licensed: Simulation, proxies: Driven
) -> None:
    held = proxies.create(inputs(licensed))
    licensed.act("DELETE", f"{PROXIES}/sydney")
    assert licensed.act("GET", f"{PROXIES}/{held.id}")["deleted"] is True
    assert proxies.read(held) is None


@pytest.mark.parametrize("fault", ["drop_before", "drop_after"])
def test_U3_a_lost_answer_ends_in_one_proxy_whose_token_works(
    licensed: Simulation, proxies: Driven, fault: str
) -> None:
    licensed.fault(fault, PROXIES, method="POST")
    held = proxies.create(inputs(licensed))
    assert living(licensed) == [held.id]
    assert licensed.accepts_proxy(token_of(held))


def test_U3_a_proxy_that_a_lost_run_left_behind_is_adopted(
    licensed: Simulation, proxies: Driven
) -> None:
    left = licensed.act("POST", PROXIES, {"name": "Sydney"})["proxy"]
    held = proxies.create(inputs(licensed))
    assert living(licensed) == [held.id] == [left["id"]]
    assert licensed.accepts_proxy(token_of(held))
    assert licensed.state.records.proxies[held.id].name == "sydney"


def test_E4_without_entitlement_no_call_is_made_and_the_next_run_opens_it(
    licensed: Simulation, proxies: Driven
) -> None:
    held = proxies.create(inputs(licensed, enabled=False))
    assert (held.id, held.outputs["reason"]) == (NOT_PROVISIONED, "NotEntitled")
    assert proxies.read(held) is not None
    proxies.update(held, inputs(licensed, enabled=False, display_name="Other"))
    proxies.delete(held)
    assert licensed.requests() == []
    news = proxies.check(inputs(licensed), held.inputs).inputs
    assert proxies.diff(held, news).replaces == ["enabled"]


def test_E5_a_lost_license_keeps_the_proxy_and_puts_changes_off(
    licensed: Simulation, proxies: Driven
) -> None:
    held = proxies.create(inputs(licensed))
    licensed.lose_licenses()
    seen = proxies.read(held)
    assert seen is not None
    assert (seen.inputs, seen.outputs["reason"]) == (held.inputs, "NotEntitled")

    closed = inputs(licensed, enabled=False, display_name="Late", trigger="now")
    licensed.forget_requests()
    after = proxies.update(held, closed)
    assert licensed.requests() == []
    assert after.inputs["deferred"] == ["display_name", "trigger"]
    assert token_of(after) == token_of(held)
    assert proxies.check(closed, after.inputs).inputs == after.inputs


@pytest.mark.parametrize("fails", [False, True])
def test_L10_a_proxy_that_another_resource_has_taken_over_is_not_deleted(
    licensed: Simulation, proxies: Driven, fails: bool
) -> None:
    """By `pulumi up --replace`, or another name of the resource. `fails`: the next run deletes."""
    held = proxies.create(inputs(licensed))
    with provider_process() as replacing:
        again = replacing.of(WorkspaceProxyRegistrationProvider()).create(inputs(licensed))
        if not fails:
            replacing.of(WorkspaceProxyRegistrationProvider()).delete(held)
    if fails:
        with provider_process() as next_run:
            driven = next_run.of(WorkspaceProxyRegistrationProvider())
            assert driven.check(inputs(licensed), again.inputs).failures == []
            driven.delete(held)
    assert living(licensed) == [again.id]
    assert licensed.accepts_proxy(token_of(again))
    with provider_process(licensed.config) as destroy:
        destroy.of(WorkspaceProxyRegistrationProvider()).delete(again)
    assert living(licensed) == []


def test_K6_delete_is_by_id_twice_is_success_and_a_namesake_stays(
    licensed: Simulation, proxies: Driven, said: Said
) -> None:
    held = proxies.create(inputs(licensed))
    licensed.act("DELETE", f"{PROXIES}/sydney")
    namesake = licensed.act("POST", PROXIES, {"name": "sydney"})["proxy"]
    heard = said()
    proxies.delete(held)
    proxies.delete(held)
    assert living(licensed) == [namesake["id"]]
    assert said() == heard


def test_K6_what_cannot_be_removed_is_a_warning_without_a_secret(
    licensed: Simulation, proxies: Driven, said: Said
) -> None:
    held = proxies.create(inputs(licensed))
    licensed.lose_licenses()
    proxies.delete(held)
    assert 'NotEntitled: workspace proxy "sydney"' in said()
    with pytest.raises(Failure) as failure:
        proxies.create(inputs(licensed, name="other"))
    for text in (said(), str(failure.value), str(held.inputs)):
        assert token_of(held) not in text
        assert licensed.token not in text


def test_secret_outputs_are_declared_by_the_model() -> None:
    assert WorkspaceProxyRegistrationProvider.state_model.secret_fields() == ["proxy_token"]
