"""What a refresh finds of a provisioner key: as it was, changed, gone, or not to be seen."""

import time
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from coder_stack.dynamic.key.verification import FEW, TURNS
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from tests.provider.driver import Driven, Failure, Held, provider_process
from tests.provider.keys import KEYS, inputs
from tests.simulation import Simulation, simulated


class TestRead:
    def test_K3_nothing_drifted_is_nothing_changed(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))
        seen = keys.read(held)
        assert seen is not None
        assert (seen.id, seen.inputs) == (held.id, held.inputs)
        assert seen.outputs == held.outputs

    def test_K3_a_key_deleted_in_coderd_is_gone(self, licensed: Simulation, keys: Driven) -> None:
        held = keys.create(inputs(licensed))
        licensed.act("DELETE", f"{KEYS}/{held.outputs['name']}")
        assert keys.read(held) is None

    def test_U1_a_key_that_the_token_does_not_see_is_not_gone(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))
        outsider = licensed.act(
            "POST", "/_sim/users", {"username": "out", "organizations": {"x": []}}
        )
        with (
            provider_process({"token": outsider["token"]}) as theirs,
            pytest.raises(Failure, match="Forbidden: provisioner key"),
        ):
            theirs.of(ProvisionerKeyProvider()).read(held)

    def test_U1_an_organization_that_the_token_does_not_see_is_not_a_key_that_is_gone(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))
        missing = {"message": "Resource not found or you do not have access to this resource"}
        anywhere = "/api/v2/organizations/*/provisionerkeys/daemons"
        licensed.fault("status", anywhere, status=404, body=missing, count=-1)
        with pytest.raises(Failure, match="Forbidden: provisioner key"):
            keys.read(held)
        with pytest.raises(Failure, match="NotFound: provisioner key"):
            keys.read(replace(held, outputs={**held.outputs, "material": ""}))

        licensed.state.records.provisioner_keys.clear()
        assert keys.read(held) is None, "the key itself says so: it opens nothing"

    @pytest.mark.parametrize("material", ["", "x" * 43, "short", "of another key"])
    def test_K3_material_that_opens_another_key_or_none_is_named_and_replaces(
        self, licensed: Simulation, keys: Driven, material: str
    ) -> None:
        held = keys.create(inputs(licensed))
        if material == "of another key":
            material = licensed.act("POST", KEYS, {"name": "other"})["key"]
        seen = keys.read(replace(held, outputs={**held.outputs, "material": material}))

        assert seen is not None
        assert seen.inputs == {**held.inputs, "material_valid": False}
        wanted = keys.check(inputs(licensed), seen.inputs).inputs
        assert keys.diff(seen, wanted).replaces == ["material_valid"]

    def test_K3_tags_and_name_as_coderd_has_them(self, licensed: Simulation, keys: Driven) -> None:
        """Coderd cannot change them; an import or an edited database can."""
        held = keys.create(inputs(licensed))
        key = licensed.state.records.provisioner_keys[held.id]
        key.tags, key.name = {"region": "us"}, "renamed"

        seen = keys.read(held)

        assert seen is not None
        assert (seen.inputs["tags"], seen.inputs["name"]) == ({"region": "us"}, "renamed")
        wanted = keys.check(inputs(licensed), seen.inputs).inputs
        assert wanted["name"].startswith("fleet-")
        assert keys.diff(seen, wanted).replaces == ["name", "tags"]

    def test_K7_old_state_without_metadata_is_filled_in_without_a_rotation(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))
        lost = ("key_id", "issued_on", "created_at", "material_sha256", "deployment_id")
        lost = (*lost, "provisioned", "material_valid", "trigger", "deferred", "reason")
        old = replace(
            held,
            outputs={k: v for k, v in held.outputs.items() if k not in lost},
            inputs={k: v for k, v in held.inputs.items() if k not in lost},
        )

        seen = keys.read(old)

        assert seen is not None
        assert (seen.id, seen.inputs) == (held.id, held.inputs)
        assert seen.outputs == held.outputs
        # Without a refresh neither: what was not recorded is not a difference.
        news = keys.check(inputs(licensed), old.inputs).inputs
        assert news["name"] == held.inputs["name"]
        assert keys.diff(old, news).replaces == []

    def test_K3_another_deployment_is_named_and_the_key_there_is_none_of_ours(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))
        with simulated(licensed=True) as other:
            moved = replace(
                held,
                outputs={**held.outputs, "connection": other.connection},
            )
            seen = keys.read(moved)
            assert seen is not None, "another deployment says nothing about this key"
            news = keys.check(inputs(other), held.inputs).inputs
            assert "deployment_id" in keys.diff(seen, news).replaces
            theirs = other.act("POST", KEYS, {"name": held.outputs["name"]})
            keys.delete(moved)
            assert other.key_of(theirs["key"]), "a namesake of another deployment is left alone"


def due_in(hour: int, held: Sequence[Held]) -> set[str]:
    """Return the ids of the keys that are verified in that hour."""
    return {each.id for each in held if UUID(each.id).int % TURNS == hour % TURNS}


class TestManyKeys:
    """Of many keys in one organization, a refresh verifies some; each comes up in its turn."""

    def test_K3_each_refresh_verifies_all_of_a_few(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = [keys.create(inputs(licensed, base_name=f"n{n}")) for n in range(FEW)]
        for row in licensed.state.records.provisioner_keys.values():
            row.secret_hash = "that of another secret"

        seen = [keys.read(each) for each in held]

        assert [each.inputs["material_valid"] for each in seen if each] == [False] * FEW

    def test_K3_each_refresh_verifies_those_keys_that_look_well_whose_turn_it_is(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = [keys.create(inputs(licensed, base_name=f"n{n}")) for n in range(2 * TURNS)]
        for row in licensed.state.records.provisioner_keys.values():
            row.secret_hash = "that of another secret"

        hours = [int(time.time()) // 3600]
        with provider_process() as refreshing:
            looking = refreshing.of(ProvisionerKeyProvider())
            seen = [looking.read(each) for each in held]
        hours.append(int(time.time()) // 3600)

        invalid = {each.id for each in seen if each and not each.inputs["material_valid"]}
        due = [due_in(hour, held) for hour in hours]
        assert invalid in due

    def test_K3_one_whose_plaintext_in_the_state_was_changed_is_found_at_once(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = [keys.create(inputs(licensed, base_name=f"n{n}")) for n in range(2 * TURNS)]
        for each in held:
            seen = keys.read(replace(each, outputs={**each.outputs, "material": "x" * 43}))
            assert seen is not None
            assert seen.inputs == {**each.inputs, "material_valid": False}
