"""Making a provisioner key: bad given fail before, and whatever gets lost, one key works after."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from sandbox.coderd.request_log import Entry
from tests.provider.driver import UNKNOWN, Driven, Failure, provider_process
from tests.provider.keys import KEYS, inputs, names
from tests.simulation import Simulation


def when_posted(coderd: Simulation) -> threading.Event:
    """Set as soon as coderd has made a key."""
    done = threading.Event()
    log, usual = coderd.application.log, coderd.application.log.add

    def add(entry: Entry) -> None:
        usual(entry)
        if (entry.method, entry.path) == ("POST", KEYS):
            done.set()

    log.add = add  # type: ignore[method-assign]
    return done


class TestCheck:
    def test_checking_what_was_checked_changes_nothing(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        first = keys.check(inputs(licensed, rotate_after_days=30)).inputs
        again = keys.check(inputs(licensed, rotate_after_days=30), first).inputs
        assert again == first
        assert "token" not in first

    @pytest.mark.parametrize(
        ("given", "path"),
        [
            ({"base_name": "PSK"}, "base_name"),
            ({"base_name": "x" * 65}, "base_name"),
            ({"tags": {"scope": "user"}}, "tags.scope"),
            ({"tags": {"size": 3}}, "tags.size"),
            ({"rotate_after_days": 0}, "rotate_after_days"),
        ],
    )
    def test_P2_bad_values_fail_with_the_fields_path(
        self, licensed: Simulation, keys: Driven, given: dict[str, Any], path: str
    ) -> None:
        (failure,) = keys.check(inputs(licensed, **given)).failures
        assert failure[0] == path

    def test_unknowns_leave_the_name_as_it_was_or_open(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        fresh = keys.check(inputs(licensed, trigger=UNKNOWN))
        assert fresh.failures == []
        assert "name" not in fresh.inputs
        assert fresh.inputs["trigger"] == UNKNOWN

        known = keys.check(inputs(licensed)).inputs
        later = keys.check(inputs(licensed, enabled=UNKNOWN), known).inputs
        assert later["name"] == known["name"]
        assert later["enabled"] == UNKNOWN

    def test_a_deployment_that_pulumi_cannot_know_yet_is_asked_for_and_settles_the_name(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        """Else the renewal of operator access would look like a rotation of every key."""
        known = keys.check(inputs(licensed)).inputs
        assert keys.check(inputs(licensed, deployment_id=UNKNOWN)).inputs == known
        assert keys.check(inputs(licensed, deployment_id=UNKNOWN), known).inputs == known


class TestCreate:
    def test_K1_the_material_opens_the_key_and_the_id_is_the_keys_uuid(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(inputs(licensed))

        assert licensed.requests() == [
            "GET /api/v2/organizations/coder",
            f"POST {KEYS}",
            "GET /api/v2/provisionerkeys/{provisionerkey}",
        ], "two requests a key, and one an organization"
        assert [held.id] == list(licensed.state.records.provisioner_keys)
        assert held.outputs["key_id"] == held.id
        assert licensed.key_of(held.outputs["material"]) == held.outputs["name"]
        assert held.outputs["name"].startswith("fleet-")

    def test_K2_a_key_of_that_name_without_plaintext_is_rotated(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        checked = keys.check(inputs(licensed)).inputs
        licensed.act("POST", KEYS, {"name": checked["name"]})
        (lost,) = licensed.state.records.provisioner_keys

        held = keys.create_checked(checked)

        assert names(licensed) == [checked["name"]]
        assert held.id != lost
        assert licensed.key_of(held.outputs["material"])

    def test_K2_a_failed_delete_that_blocks_the_create_is_an_error_and_loses_nothing(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        checked = keys.check(inputs(licensed)).inputs
        licensed.act("POST", KEYS, {"name": checked["name"]})
        before = dict(licensed.state.records.provisioner_keys)
        body = {"message": "An internal server error occurred."}
        licensed.fault("status", f"{KEYS}/*", method="DELETE", status=500, body=body)

        with pytest.raises(Failure) as failure:
            keys.create_checked(checked)

        assert "ServerFault: provisioner key" in failure.value.last
        assert "delete provisioner key" in failure.value.last
        assert licensed.state.records.provisioner_keys == before

    @pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
    def test_U3_a_lost_answer_ends_in_one_key_that_works(
        self, licensed: Simulation, keys: Driven, kind: str
    ) -> None:
        licensed.fault(kind, KEYS, method="POST")
        held = keys.create(inputs(licensed))

        assert [held.id] == list(licensed.state.records.provisioner_keys)
        assert licensed.key_of(held.outputs["material"])

    def test_K5_U3_a_run_killed_after_the_key_was_made_is_resumed_without_an_orphan(
        self, licensed: Simulation
    ) -> None:
        licensed.fault("delay", "/api/v2/provisionerkeys/*", seconds=30)
        made = when_posted(licensed)
        with ThreadPoolExecutor(1) as pool:
            with provider_process() as doomed:
                run = pool.submit(doomed.of(ProvisionerKeyProvider()).create, inputs(licensed))
                assert made.wait(30)
            assert isinstance(run.exception(), Failure), "killed while it waited for the id"
        orphan = list(licensed.state.records.provisioner_keys)
        licensed.peace()

        with provider_process() as next_run:
            held = next_run.of(ProvisionerKeyProvider()).create(inputs(licensed))

        assert len(orphan) == 1
        assert list(licensed.state.records.provisioner_keys) == [held.id]
        assert licensed.key_of(held.outputs["material"])

    def test_a_key_whose_id_cannot_be_learnt_is_taken_back(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        body = {"message": "An internal server error occurred."}
        licensed.fault("status", "/api/v2/provisionerkeys/*", status=500, body=body)
        with pytest.raises(Failure, match="ServerFault"):
            keys.create(inputs(licensed))
        assert names(licensed) == []


def test_secret_outputs_are_declared_by_the_model() -> None:
    assert ProvisionerKeyProvider.state_model.secret_fields() == ["material"]
