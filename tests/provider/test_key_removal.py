"""Removing a provisioner key: only the one that was made, and without a word too many."""

from dataclasses import replace

import pytest

from tests.provider.driver import Driven, Failure, Said
from tests.provider.keys import KEYS, inputs, names
from tests.simulation import Simulation


class TestDelete:
    def test_K6_the_applied_key_is_deleted_and_again_is_success(
        self, licensed: Simulation, keys: Driven, said: Said
    ) -> None:
        held = keys.create(inputs(licensed))
        heard = said()
        keys.delete(held)
        assert names(licensed) == []
        keys.delete(held)
        assert said() == heard

    def test_K6_a_successor_under_the_same_name_is_left_alone(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))
        successor = keys.create_checked(held.inputs)
        keys.delete(held)
        assert licensed.key_of(successor.outputs["material"])

    def test_K6_a_key_that_only_the_material_leads_to_is_left_alone(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))
        theirs: str = licensed.act("POST", KEYS, {"name": "other"})["key"]
        licensed.act("DELETE", f"{KEYS}/{held.outputs['name']}")
        keys.delete(replace(held, outputs={**held.outputs, "material": theirs}))
        assert licensed.key_of(theirs)

    def test_K6_what_cannot_be_removed_is_a_warning_that_names_it(
        self, licensed: Simulation, keys: Driven, said: Said
    ) -> None:
        held = keys.create(inputs(licensed))
        licensed.lose_licenses()
        keys.delete(held)
        assert f'NotEntitled: provisioner key "{held.outputs["name"]}"' in said()
        assert names(licensed) == [held.outputs["name"]]


def test_no_secret_is_in_what_people_see(licensed: Simulation, keys: Driven, said: Said) -> None:
    held = keys.create(inputs(licensed))
    licensed.fault(
        "status", f"{KEYS}/daemons", status=500, count=-1, body={"message": "Internal error"}
    )
    with pytest.raises(Failure) as failure:
        keys.read(held)
    keys.delete(held)
    for text in (str(failure.value), said(), str(held.inputs)):
        assert held.outputs["material"] not in text
        assert licensed.token not in text
