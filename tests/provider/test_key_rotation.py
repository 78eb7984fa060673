"""What replaces a provisioner key, what leaves it as it is, and what puts a rotation off."""

from dataclasses import replace
from typing import Any

import pytest

from coder_stack.dynamic.runtime.licensed import NOT_PROVISIONED
from tests.provider.driver import Driven, Said
from tests.provider.keys import inputs
from tests.simulation import Simulation


class TestDiff:
    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"organization": "second"}, {"organization", "organization_id", "name"}),
            ({"tags": {"region": "us"}}, {"tags", "name"}),
            ({"base_name": "squad"}, {"name"}),
            ({"deployment_id": "0c7f6cf7-91c0-4f2d-8f0e-5f1f5b1c7f00"}, {"deployment_id", "name"}),
            ({"trigger": "leaked"}, {"trigger", "name"}),
        ],
    )
    def test_K5_each_difference_replaces_by_creating_first(
        self, licensed: Simulation, keys: Driven, change: dict[str, Any], named: set[str]
    ) -> None:
        licensed.act("POST", "/api/v2/organizations", {"name": "second"})
        held = keys.create(inputs(licensed))
        news = keys.check(inputs(licensed, **change), held.inputs).inputs
        difference = keys.diff(held, news)
        assert (set(difference.replaces), difference.delete_first) == (named, False)
        assert difference.changes == "unknown", "the engine compares the inputs itself"

    def test_K5_an_exact_name_is_deleted_first(self, licensed: Simulation, keys: Driven) -> None:
        exact = inputs(licensed, base_name="Fleet", exact_name=True)
        held = keys.create(exact)
        assert held.outputs["name"] == "fleet"
        news = keys.check({**exact, "trigger": "now"}, held.inputs).inputs
        difference = keys.diff(held, news)
        assert (difference.replaces, difference.delete_first) == (["trigger"], True)

    def test_K5_a_key_that_is_old_enough_is_replaced(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        aged = inputs(licensed, rotate_after_days=30)
        held = keys.create(aged)
        old = {**held.inputs, "issued_on": "2020-01-01"}
        news = keys.check(aged, old).inputs
        grown = replace(held, outputs={**held.outputs, "issued_on": "2020-01-01"})
        assert "issued_on" in keys.diff(grown, news).replaces
        assert news["issued_on"] == held.inputs["issued_on"]

    def test_K3_a_new_url_of_the_same_deployment_keeps_the_key(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))
        other_way = {"url": licensed.url.replace("127.0.0.1", "localhost")}
        news = inputs(licensed, connection=other_way)
        assert keys.diff(held, keys.check(news, held.inputs).inputs).replaces == []
        licensed.forget_requests()
        updated = keys.update(held, news)
        assert licensed.requests() == []
        assert updated.outputs["material"] == held.outputs["material"]
        assert updated.outputs.keys() == held.outputs.keys()


class TestGate:
    def test_E4_without_entitlement_no_call_is_made_and_the_next_run_opens_it(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed, enabled=False))
        assert (held.id, held.outputs["reason"]) == (NOT_PROVISIONED, "NotEntitled")
        seen = keys.read(held)
        assert seen is not None
        assert seen.inputs == held.inputs
        still = keys.check(inputs(licensed, enabled=False, tags={}), held.inputs).inputs
        assert keys.diff(held, still).replaces == []
        keys.delete(held)
        assert licensed.requests() == []

        news = keys.check(inputs(licensed), held.inputs).inputs
        assert keys.diff(held, news).replaces == ["enabled"]
        real = keys.create(inputs(licensed))
        assert licensed.key_of(real.outputs["material"])

    def test_E4_what_waits_for_a_license_does_not_grow_old(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        closed = inputs(licensed, enabled=False, rotate_after_days=1)
        held = {**keys.check(closed).inputs, "issued_on": "2020-01-01"}
        assert keys.check(closed, held).inputs == held

    def test_E5_a_lost_license_keeps_the_key_and_puts_rotations_off(
        self, licensed: Simulation, keys: Driven, said: Said
    ) -> None:
        held = keys.create(inputs(licensed))
        licensed.lose_licenses()

        seen = keys.read(held)
        assert seen is not None
        assert (seen.inputs, seen.outputs["reason"]) == (held.inputs, "NotEntitled")

        closed = inputs(licensed, enabled=False, tags={"region": "us"}, trigger="now")
        news = keys.check(closed, held.inputs).inputs
        changed = {k for k in news if news[k] != held.inputs.get(k)}
        assert changed == {"enabled", "deferred"}
        assert news["deferred"] == ["tags", "trigger"]
        assert "deferred until the license allows it again: tags, trigger." in said()
        assert keys.diff(held, news).replaces == []
        after = keys.update(held, closed)
        assert after.outputs["material"] == held.outputs["material"]
        assert after.outputs["reason"] == "NotEntitled"
        assert keys.check(closed, after.inputs).inputs == after.inputs

        reopened = keys.check({**closed, "enabled": True}, after.inputs).inputs
        assert reopened["deferred"] == []
        assert set(keys.diff(after, reopened).replaces) == {"name", "tags", "trigger"}
