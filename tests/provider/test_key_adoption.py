"""Taking over the key of an existing deployment, through the real provider process.

Each test has a process of its own, as each run of Pulumi has: what was offered stays in its memory.
"""

from datetime import timedelta
from typing import Any

import pytest

from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from coder_stack.dynamic.runtime.licensed import NOT_PROVISIONED
from tests.provider.driver import UNKNOWN, Driven, Failure, ProviderProcess, provider_process
from tests.provider.keys import KEYS
from tests.simulation import Simulation

TAGS = {"region": "eu", "size": "l"}


@pytest.fixture
def keys(process: ProviderProcess) -> Driven:
    """Not those of the shared process."""
    return process.of(ProvisionerKeyProvider())


@pytest.fixture
def material(licensed: Simulation) -> str:
    """Of the key that somebody else has made; daemons run with it."""
    text: str = licensed.act("POST", KEYS, {"name": "fleet", "tags": TAGS})["key"]
    licensed.forget_requests()
    return text


def inputs(coderd: Simulation, material: str | None, **more: Any) -> dict[str, Any]:
    offered = {} if material is None else {"adopt_material": material}
    return {
        "connection": coderd.connection,
        "organization": "coder",
        "base_name": "Fleet",
        "exact_name": True,
        "tags": {"size": "l", "region": "eu"},
        "deployment_id": coderd.state.records.deployment_id,
        **offered,
        **more,
    }


def writes(coderd: Simulation) -> list[str]:
    return [line for line in coderd.requests() if not line.startswith("GET ")]


def test_K1_a_key_that_fits_is_taken_over_as_it_is(
    licensed: Simulation, keys: Driven, material: str
) -> None:
    (existing,) = licensed.state.records.provisioner_keys

    held = keys.create(inputs(licensed, f"{material}\n"))

    assert (held.id, held.outputs["material"]) == (existing, material)
    assert writes(licensed) == []
    seen = keys.read(held)
    assert seen is not None
    assert (seen.inputs, seen.outputs) == (held.inputs, held.outputs)


@pytest.mark.parametrize("later", [None, "something else", UNKNOWN])
def test_what_is_offered_later_or_no_more_is_no_change(
    licensed: Simulation, keys: Driven, material: str, later: str | None
) -> None:
    held = keys.create(inputs(licensed, material))
    assert "adopt_material" not in {*held.inputs, *held.outputs}

    with provider_process() as next_run:
        again = next_run.of(ProvisionerKeyProvider()).check(inputs(licensed, later), held.inputs)

    assert again.inputs == held.inputs
    assert again.failures == []


def test_a_preview_that_cannot_know_the_material_shows_no_less(
    licensed: Simulation, keys: Driven, material: str
) -> None:
    known = keys.check(inputs(licensed, material)).inputs
    assert keys.check(inputs(licensed, UNKNOWN)).inputs.keys() == known.keys()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"base_name": "squad"}, 'the material is that of key "fleet"'),
        ({"tags": {"region": "us"}}, "the key has other tags"),
        ({"organization": "second"}, "the key is one of another organization"),
        ({"adopt_material": "x" * 43}, "the material opens no key of this coderd"),
        ({"adopt_material": "not a key"}, "the material opens no key of this coderd"),
    ],
)
def test_K2_a_key_that_does_not_fit_is_named_and_a_new_one_is_made(
    licensed: Simulation,
    keys: Driven,
    process: ProviderProcess,
    material: str,
    change: dict[str, Any],
    why: str,
) -> None:
    licensed.act("POST", "/api/v2/organizations", {"name": "second"})
    wanted = inputs(licensed, material, **change)

    keys.check(wanted)
    assert f"not taken over, since {why};" in process.stderr, "a preview says so already"
    held = keys.create(wanted)

    assert process.stderr.count("not taken over") == 1, "once a run"
    assert held.outputs["material"] != material
    # A key of the very name is in the way and goes (K2); any other stays beside the new one.
    namesake = "base_name" not in change and "organization" not in change
    assert len(licensed.state.records.provisioner_keys) == (1 if namesake else 2)
    assert held.id in licensed.state.records.provisioner_keys
    assert material not in process.stderr


def test_U1_an_outage_is_no_proof_that_the_key_does_not_fit(
    licensed: Simulation, keys: Driven, material: str
) -> None:
    checked = keys.check(inputs(licensed, material)).inputs
    licensed.refuse(500, "Internal error.", "/api/v2/provisionerkeys/*")

    with pytest.raises(Failure, match="ServerFault"):
        keys.create_checked(checked)

    assert writes(licensed) == []


def test_K5_a_key_that_was_taken_over_is_rotated_by_its_own_age(
    licensed: Simulation, keys: Driven, material: str
) -> None:
    (key,) = licensed.state.records.provisioner_keys.values()
    key.created_at -= timedelta(days=40)
    aging = inputs(licensed, material, rotate_after_days=30)

    held = keys.create(aging)

    assert held.outputs["issued_on"] == key.created_at.date().isoformat()
    assert writes(licensed) == [], "first it is taken over"
    news = keys.check(aging, held.inputs).inputs
    assert keys.diff(held, news).replaces == ["issued_on"]


def test_K5_a_rotation_makes_a_new_key_and_does_not_ask_for_the_old_one(
    licensed: Simulation, keys: Driven, material: str
) -> None:
    """The Secret that was offered still holds the old material, or by now our own."""
    held = keys.create(inputs(licensed, material))
    with provider_process() as next_run:
        rotated = next_run.of(ProvisionerKeyProvider())
        wanted = inputs(licensed, material, trigger="leaked")
        news = rotated.check(wanted, held.inputs).inputs
        assert rotated.diff(held, news).replaces == ["trigger"]
        rotated.delete(held)
        successor = rotated.create(wanted)

        assert successor.outputs["material"] != material
        assert "not taken over" not in next_run.stderr


def test_E4_behind_a_closed_gate_nothing_is_asked_and_the_open_one_takes_over(
    licensed: Simulation, keys: Driven, material: str
) -> None:
    held = keys.create(inputs(licensed, material, enabled=False))
    assert (held.id, licensed.requests()) == (NOT_PROVISIONED, [])

    with provider_process() as next_run:
        opened = next_run.of(ProvisionerKeyProvider())
        news = opened.check(inputs(licensed, material), held.inputs).inputs
        assert opened.diff(held, news).replaces == ["enabled"]
        real = opened.create(inputs(licensed, material))

    assert real.outputs["material"] == material
    assert writes(licensed) == []


def test_B1_a_generated_name_cannot_take_over(
    licensed: Simulation, keys: Driven, material: str
) -> None:
    checked = keys.check(inputs(licensed, material, exact_name=False))
    ((path, _),) = checked.failures
    assert path == "exact_name"
    assert material not in str(checked)


def test_two_keys_are_offered_their_own_material(licensed: Simulation, keys: Driven) -> None:
    first = licensed.act("POST", KEYS, {"name": "a"})["key"]
    second = licensed.act("POST", KEYS, {"name": "b"})["key"]
    wanted = {
        name: keys.check(inputs(licensed, text, base_name=name, tags={})).inputs
        for name, text in (("a", first), ("b", second))
    }
    held = {name: keys.create_checked(inputs) for name, inputs in wanted.items()}
    assert (held["a"].outputs["material"], held["b"].outputs["material"]) == (first, second)


def test_a_lost_key_is_not_taken_over_twice(
    licensed: Simulation, keys: Driven, process: ProviderProcess, material: str
) -> None:
    """Deleted in coderd, its material opens nothing: the next run makes another key."""
    held = keys.create(inputs(licensed, material))
    licensed.act("DELETE", f"{KEYS}/fleet")
    assert keys.read(held) is None

    again = keys.create(inputs(licensed, material))

    assert again.outputs["material"] != material
    assert "the material opens no key of this coderd" in process.stderr
