"""A key whose organization gets another name in coderd: drift, and never a lost key (K10)."""

from dataclasses import replace
from typing import Any

import pytest

from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from tests.provider.driver import Bag, Driven, Held, Said, provider_process
from tests.provider.keys import inputs as default_wish
from tests.provider.keys import names
from tests.simulation import Simulation

ORGANIZATIONS = "/api/v2/organizations"


@pytest.fixture
def research(licensed: Simulation) -> str:
    """An organization's uuid."""
    made: dict[str, str] = licensed.act("POST", ORGANIZATIONS, {"name": "research"})
    return made["id"]


def inputs(coderd: Simulation, **more: Any) -> Bag:
    return default_wish(coderd, **{"organization": "research", **more})


def rename(coderd: Simulation, organization: str) -> None:
    """From `research`, behind Pulumi's back."""
    coderd.act("PATCH", f"{ORGANIZATIONS}/{organization}", {"name": "lab"})


def without_uuid(held: Held) -> Held:
    """As an earlier version has written it."""
    outputs = {k: v for k, v in held.outputs.items() if k != "organization_id"}
    checked = {k: v for k, v in held.inputs.items() if k != "organization_id"}
    return replace(held, outputs=outputs, inputs=checked)


def refreshed(keys: Driven, held: Held) -> Held:
    seen = keys.read(held)
    assert seen is not None, "the key is there"
    return seen


class TestRead:
    @pytest.mark.parametrize("old_state", [False, True])
    def test_K10_a_renamed_organization_is_named_and_the_key_is_still_there(
        self, licensed: Simulation, keys: Driven, said: Said, research: str, old_state: bool
    ) -> None:
        held = keys.create(inputs(licensed))
        assert held.inputs["organization_id"] == research
        rename(licensed, research)

        seen = refreshed(keys, without_uuid(held) if old_state else held)

        assert (seen.id, seen.inputs) == (held.id, {**held.inputs, "organization": "lab"})
        assert 'its organization "research" is called "lab" in coderd now; set "lab"' in said()
        assert keys.diff(seen, held.inputs).replaces == []

    def test_K10_K7_old_state_is_filled_in_without_a_rotation(
        self, licensed: Simulation, keys: Driven, research: str
    ) -> None:
        held = keys.create(inputs(licensed))
        old = without_uuid(held)
        assert keys.check(inputs(licensed), old.inputs).inputs == old.inputs
        seen = refreshed(keys, old)
        assert seen.inputs == {**old.inputs, "organization_id": research}
        assert keys.check(inputs(licensed), seen.inputs).inputs == seen.inputs
        assert keys.diff(seen, held.inputs).replaces == []

    def test_K10_another_organization_under_the_old_name_says_nothing_about_the_key(
        self, licensed: Simulation, keys: Driven, research: str
    ) -> None:
        held = keys.create(inputs(licensed))
        rename(licensed, research)
        licensed.act("POST", ORGANIZATIONS, {"name": "research"})
        assert refreshed(keys, held).inputs["organization"] == "lab"


class TestCheck:
    @pytest.mark.parametrize("looked_before", [False, True])
    def test_K10_a_config_that_follows_the_new_name_keeps_the_key(
        self, licensed: Simulation, keys: Driven, research: str, looked_before: bool
    ) -> None:
        held = keys.create(inputs(licensed))
        rename(licensed, research)
        held = refreshed(keys, held) if looked_before else held

        news = keys.check(inputs(licensed, organization="lab"), held.inputs)

        assert news.failures == []
        assert news.inputs == {**held.inputs, "organization": "lab"}
        assert keys.diff(held, news.inputs).replaces == []
        licensed.forget_requests()
        updated = keys.update(held, inputs(licensed, organization="lab"))
        assert updated.outputs["organization"] == "lab"
        assert updated.outputs["material"] == held.outputs["material"]
        assert [line for line in licensed.requests() if not line.startswith("GET ")] == []

    def test_K10_a_config_that_keeps_the_old_name_fails_with_the_next_step(
        self, licensed: Simulation, keys: Driven, research: str
    ) -> None:
        """Else a plain `up` would make a second key elsewhere, or fail half-way."""
        held = keys.create(inputs(licensed))
        rename(licensed, research)
        with provider_process(licensed.config) as next_run:
            keys = next_run.of(ProvisionerKeyProvider())
            seen = refreshed(keys, held)
            failures = keys.check(inputs(licensed), seen.inputs).failures
        why = 'is not known to coderd; the key is in "lab": if it was renamed, set "lab" here'
        assert failures == [("organization", why)]

    def test_K10_another_organization_under_the_same_name_is_another_place(
        self, licensed: Simulation, keys: Driven, research: str
    ) -> None:
        held = keys.create(inputs(licensed))
        rename(licensed, research)
        other = licensed.act("POST", ORGANIZATIONS, {"name": "research"})["id"]
        with provider_process(licensed.config) as next_run:
            keys = next_run.of(ProvisionerKeyProvider())
            seen = refreshed(keys, held)
            news = keys.check(inputs(licensed), seen.inputs).inputs
            assert set(keys.diff(seen, news).replaces) == {
                "organization",
                "organization_id",
                "name",
            }
            moved = keys.create(inputs(licensed))
            keys.delete(seen)
        assert moved.outputs["organization_id"] == other
        assert names(licensed) == [moved.outputs["name"]], "none is left in the other one"

    def test_K10_another_word_for_the_same_organization_is_no_change_of_the_key(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        """Coderd takes `default` for the first one, and a uuid for any."""
        held = keys.create(default_wish(licensed))
        for word in ("default", held.inputs["organization_id"]):
            news = keys.check(default_wish(licensed, organization=word), held.inputs).inputs
            assert keys.diff(held, news).replaces == []
            assert refreshed(keys, keys.update(held, news)).inputs == news

    def test_K10_an_organization_that_is_not_there_yet_may_be_made_by_the_same_run(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        checked = keys.check(inputs(licensed))
        assert checked.failures == []
        assert "organization_id" not in checked.inputs


class TestDelete:
    @pytest.mark.parametrize("old_state", [False, True])
    def test_K10_K6_the_key_is_deleted_where_it_is(
        self, licensed: Simulation, keys: Driven, research: str, old_state: bool
    ) -> None:
        held = keys.create(inputs(licensed))
        rename(licensed, research)
        keys.delete(without_uuid(held) if old_state else held)
        assert names(licensed) == []

    def test_K10_K6_a_404_of_the_organization_is_no_deleted_key(
        self, licensed: Simulation, keys: Driven, said: Said, research: str
    ) -> None:
        held = keys.create(inputs(licensed))
        rename(licensed, research)
        old = without_uuid(held)
        keys.delete(replace(old, outputs={**old.outputs, "material": ""}))
        assert licensed.key_of(held.outputs["material"])
        assert f'NotFound: provisioner key "{held.outputs["name"]}" of "research"' in said()
        assert "It may still be there; remove it by hand." in said()
