"""One key after another: a name is never asked for while it may still be in use (K8, K9).

Each run of Pulumi has a provider process of its own. In a replacement the engine checks twice, the
second time as if nothing had been there.
"""

from typing import Any

import pytest

from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from tests.daemons import connect
from tests.provider.driver import Bag, Driven, Failure, Held, Said, provider_process
from tests.provider.keys import KEYS, inputs, names
from tests.simulation import Simulation

HASTY = {"CODER_STACK_DEADLINE": "1"}


def replaced(keys: Driven, held: Held, news: Bag) -> Held:
    """The new key, made beside the old one as the engine does."""
    wanted = keys.check(news, held.inputs)
    assert wanted.failures == []
    assert not keys.diff(held, wanted.inputs).delete_first
    return keys.create(news)


def run(held: Held, news: Bag) -> Held:
    """A run that replaces the key and then dies, so that the old one is not deleted."""
    with provider_process() as process:
        return replaced(process.of(ProvisionerKeyProvider()), held, news)


class TestTakenBack:
    @pytest.mark.parametrize("connected", [True, False])
    def test_K9_a_rotation_that_is_taken_back_leaves_the_key_that_pods_hold(
        self, licensed: Simulation, keys: Driven, connected: bool
    ) -> None:
        one, two = inputs(licensed, trigger="1"), inputs(licensed, trigger="2")
        first = keys.create(one)
        if connected:
            connect(licensed, first.outputs["material"])
        second = run(first, two)

        third = run(second, one)

        assert licensed.requests("DELETE") == []
        assert licensed.key_of(first.outputs["material"]), "until the pods have the new one"
        assert licensed.key_of(third.outputs["material"])
        with provider_process(licensed.config) as process:
            for old in (second, first):
                process.of(ProvisionerKeyProvider()).delete(old)
        assert names(licensed) == [third.outputs["name"]]

    def test_K9_a_key_that_is_replaced_for_the_same_wish_gets_a_name_of_its_own(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        """By age, or because coderd no longer takes the material."""
        first = keys.create(inputs(licensed))
        second = run(first, inputs(licensed))
        assert licensed.requests("DELETE") == []
        assert second.outputs["name"] != first.outputs["name"]

    def test_K9_U3_what_a_lost_rotation_left_behind_is_still_found_by_its_name(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        first = keys.create(inputs(licensed))
        lost = run(first, inputs(licensed, trigger="2"))
        again = run(first, inputs(licensed, trigger="2"))
        assert again.outputs["name"] == lost.outputs["name"]
        assert names(licensed) == sorted([first.outputs["name"], again.outputs["name"]])

    def test_K9_the_name_in_a_preview_is_the_one_that_the_key_gets(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        first = keys.create(inputs(licensed))
        news = inputs(licensed, trigger="2")
        with provider_process() as preview:
            seen = preview.of(ProvisionerKeyProvider()).check(news, first.inputs).inputs
        assert run(first, news).outputs["name"] == seen["name"]


class TestOutage:
    """Coderd is away when the old key of a rotation is due to be deleted (X1)."""

    def test_X1_the_old_key_is_deleted_by_the_next_run(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        one, two = inputs(licensed, trigger="1"), inputs(licensed, trigger="2")
        first = keys.create(one)
        second = run(first, two)
        with provider_process(licensed.config, HASTY) as process:
            next_run = process.of(ProvisionerKeyProvider())
            assert next_run.check(two, second.inputs).inputs == second.inputs
            licensed.fault("status", KEYS, status=503, count=-1)
            with pytest.raises(Failure, match="It is superseded; the next run tries again"):
                next_run.delete(first)
            licensed.peace()
            next_run.delete(first)
        assert names(licensed) == [second.outputs["name"]]

    def test_K6_a_key_that_nothing_replaces_is_let_go_with_a_warning(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))
        licensed.fault("status", KEYS, status=503, count=-1)
        with provider_process(licensed.config, HASTY) as destroy:
            destroy.of(ProvisionerKeyProvider()).delete(held)
            assert "remove it by hand" in destroy.stderr


class TestNamesake:
    def test_K8_two_stacks_with_the_same_wish_have_keys_of_their_own(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = [keys.create(inputs(licensed, owner=stack)) for stack in ("one", "two")]
        assert all(licensed.key_of(each.outputs["material"]) for each in held)
        assert licensed.requests("DELETE") == []
        assert all("owner" not in {*each.inputs, *each.outputs} for each in held)

    def test_K8_a_key_that_exists_keeps_its_name_whichever_stack_asks(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))
        assert keys.check(inputs(licensed, owner="one"), held.inputs).inputs == held.inputs

    def test_K8_K2_a_namesake_without_daemons_is_deleted_and_named(
        self, licensed: Simulation, keys: Driven, said: Said
    ) -> None:
        checked = keys.check(inputs(licensed)).inputs
        licensed.act("POST", KEYS, {"name": checked["name"]})
        keys.create_checked(checked)
        assert f'warning: provisioner key "{checked["name"]}" of "coder": a key of that' in said()
        assert "it was deleted to make room." in said()

    @pytest.mark.parametrize("more", [{}, {"exact_name": True}])
    def test_K8_a_namesake_whose_daemons_live_is_left_and_the_next_step_is_said(
        self, licensed: Simulation, keys: Driven, more: dict[str, Any]
    ) -> None:
        checked = keys.check(inputs(licensed, **more)).inputs
        theirs = licensed.act("POST", KEYS, {"name": checked["name"]})["key"]
        connect(licensed, theirs)

        with pytest.raises(Failure) as failure:
            keys.create_checked(checked)

        assert failure.value.last.startswith(
            f'Failed: Conflict: provisioner key "{checked["name"]}" of "coder", create: '
        )
        assert "in use by 1 live daemon " in failure.value.last
        assert "ask for another name or trigger, adopt the key, or stop" in failure.value.last
        assert licensed.key_of(theirs)
        assert licensed.requests("DELETE") == []
