"""Provisioner keys through the real provider process, against the simulated coderd."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest

from coder_stack.dynamic.gate import NOT_PROVISIONED
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from sandbox.coderd.request_log import Entry
from tests.provider.driver import UNKNOWN, Driven, Failure, ProviderProcess, Said, provider_process
from tests.simulation import Simulation, simulated

KEYS = "/api/v2/organizations/coder/provisionerkeys"


@pytest.fixture
def keys(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(ProvisionerKeyProvider())


def wish(coderd: Simulation, **more: Any) -> dict[str, Any]:
    return {
        "connection": coderd.connection,
        "token": coderd.token,
        "organization": "coder",
        "base_name": "fleet",
        "tags": {"region": "eu"},
        "deployment_id": coderd.world.records.deployment_id,
        **more,
    }


def names(coderd: Simulation) -> list[str]:
    return sorted(key.name for key in coderd.world.records.provisioner_keys.values())


def opens(coderd: Simulation, material: str) -> str | None:
    """The name of the key that the material belongs to, as coderd itself says."""
    answer = httpx.get(
        f"{coderd.url}/api/v2/provisionerkeys/self",
        headers={"Coder-Provisioner-Daemon-Key": material},
        trust_env=False,
    )
    return answer.json()["name"] if answer.is_success else None


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


class TestCreate:
    def test_K1_the_material_opens_the_key_and_the_id_is_the_keys_uuid(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(wish(licensed))

        assert licensed.requests() == [
            f"POST {KEYS}",
            "GET /api/v2/provisionerkeys/{provisionerkey}",
        ], "two requests a key"
        assert [held.id] == list(licensed.world.records.provisioner_keys)
        assert held.outputs["key_id"] == held.id
        assert opens(licensed, held.outputs["material"]) == held.outputs["name"]
        assert held.outputs["name"].startswith("fleet-")

    def test_K2_a_key_of_that_name_without_plaintext_is_rotated(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        inputs = keys.check(wish(licensed)).inputs
        licensed.act("POST", KEYS, {"name": inputs["name"]})
        (lost,) = licensed.world.records.provisioner_keys

        held = keys.create_checked(inputs)

        assert names(licensed) == [inputs["name"]]
        assert held.id != lost
        assert opens(licensed, held.outputs["material"])

    def test_K2_a_failed_delete_that_blocks_the_create_is_an_error_and_loses_nothing(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        inputs = keys.check(wish(licensed)).inputs
        licensed.act("POST", KEYS, {"name": inputs["name"]})
        before = dict(licensed.world.records.provisioner_keys)
        body = {"message": "An internal server error occurred."}
        licensed.fault("status", f"{KEYS}/*", method="DELETE", status=500, body=body)

        with pytest.raises(Failure) as failure:
            keys.create_checked(inputs)

        assert "ServerFault: provisioner key" in failure.value.last
        assert "delete provisioner key" in failure.value.last
        assert licensed.world.records.provisioner_keys == before

    @pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
    def test_U3_a_lost_answer_ends_in_one_key_that_works(
        self, licensed: Simulation, keys: Driven, kind: str
    ) -> None:
        licensed.fault(kind, KEYS, method="POST")
        held = keys.create(wish(licensed))

        assert [held.id] == list(licensed.world.records.provisioner_keys)
        assert opens(licensed, held.outputs["material"])

    def test_K5_U3_a_run_killed_after_the_key_was_made_is_resumed_without_an_orphan(
        self, licensed: Simulation
    ) -> None:
        licensed.fault("delay", "/api/v2/provisionerkeys/*", seconds=30)
        made = when_posted(licensed)
        with ThreadPoolExecutor(1) as pool:
            with provider_process() as doomed:
                run = pool.submit(doomed.of(ProvisionerKeyProvider()).create, wish(licensed))
                assert made.wait(30)
            assert isinstance(run.exception(), Failure), "killed while it waited for the id"
        orphan = list(licensed.world.records.provisioner_keys)
        licensed.peace()

        with provider_process() as next_run:
            held = next_run.of(ProvisionerKeyProvider()).create(wish(licensed))

        assert len(orphan) == 1
        assert list(licensed.world.records.provisioner_keys) == [held.id]
        assert opens(licensed, held.outputs["material"])

    def test_a_key_whose_id_cannot_be_learnt_is_taken_back(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        body = {"message": "An internal server error occurred."}
        licensed.fault("status", "/api/v2/provisionerkeys/*", status=500, body=body)
        with pytest.raises(Failure, match="ServerFault"):
            keys.create(wish(licensed))
        assert names(licensed) == []


class TestCheck:
    def test_checking_what_was_checked_changes_nothing(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        first = keys.check(wish(licensed, rotate_after_days=30)).inputs
        again = keys.check(wish(licensed, rotate_after_days=30), first).inputs
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
        (failure,) = keys.check(wish(licensed, **given)).failures
        assert failure[0] == path

    def test_unknowns_leave_the_name_as_it_was_or_open(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        fresh = keys.check(wish(licensed, trigger=UNKNOWN))
        assert fresh.failures == []
        assert "name" not in fresh.inputs
        assert fresh.inputs["trigger"] == UNKNOWN

        known = keys.check(wish(licensed)).inputs
        later = keys.check(wish(licensed, enabled=UNKNOWN), known).inputs
        assert later["name"] == known["name"]
        assert later["enabled"] == UNKNOWN

    def test_a_deployment_that_pulumi_cannot_know_yet_is_asked_for_and_settles_the_name(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        """Else the renewal of operator access would look like a rotation of every key."""
        known = keys.check(wish(licensed)).inputs
        assert keys.check(wish(licensed, deployment_id=UNKNOWN)).inputs == known
        assert keys.check(wish(licensed, deployment_id=UNKNOWN), known).inputs == known


class TestRead:
    def test_K3_nothing_drifted_is_nothing_changed(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(wish(licensed))
        seen = keys.read(held)
        assert seen is not None
        assert (seen.id, seen.inputs) == (held.id, held.inputs)
        assert seen.outputs == held.outputs

    def test_K3_a_key_deleted_in_coderd_is_gone(self, licensed: Simulation, keys: Driven) -> None:
        held = keys.create(wish(licensed))
        licensed.act("DELETE", f"{KEYS}/{held.outputs['name']}")
        assert keys.read(held) is None

    def test_U1_a_key_that_the_token_does_not_see_is_not_gone(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(wish(licensed))
        outsider = licensed.act(
            "POST", "/_sim/users", {"username": "out", "organizations": {"x": []}}
        )
        keys.check(wish(licensed, token=outsider["token"]))  # hands the token over

        with pytest.raises(Failure, match="Forbidden: provisioner key"):
            keys.read(held)

    def test_U1_an_organization_that_the_token_does_not_see_is_not_a_key_that_is_gone(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(wish(licensed))
        missing = {"message": "Resource not found or you do not have access to this resource"}
        licensed.fault("status", KEYS, status=404, body=missing, count=-1)
        with pytest.raises(Failure, match="Forbidden: provisioner key"):
            keys.read(held)
        with pytest.raises(Failure, match="NotFound: provisioner key"):
            keys.read(replace(held, outputs={**held.outputs, "material": ""}))

        licensed.world.records.provisioner_keys.clear()
        assert keys.read(held) is None, "the key itself says so: it opens nothing"

    @pytest.mark.parametrize("material", ["", "x" * 43, "short", "of another key"])
    def test_K3_material_that_opens_another_key_or_none_is_named_and_replaces(
        self, licensed: Simulation, keys: Driven, material: str
    ) -> None:
        held = keys.create(wish(licensed))
        if material == "of another key":
            material = licensed.act("POST", KEYS, {"name": "other"})["key"]
        seen = keys.read(replace(held, outputs={**held.outputs, "material": material}))

        assert seen is not None
        assert seen.inputs == {**held.inputs, "material_valid": False}
        wanted = keys.check(wish(licensed), seen.inputs).inputs
        assert keys.diff(seen, wanted).replaces == ["material_valid"]

    def test_K3_tags_and_name_as_coderd_has_them(self, licensed: Simulation, keys: Driven) -> None:
        """Coderd cannot change them; an import or an edited database can."""
        held = keys.create(wish(licensed))
        key = licensed.world.records.provisioner_keys[held.id]
        key.tags, key.name = {"region": "us"}, "renamed"

        seen = keys.read(held)

        assert seen is not None
        assert (seen.inputs["tags"], seen.inputs["name"]) == ({"region": "us"}, "renamed")
        wanted = keys.check(wish(licensed), seen.inputs).inputs
        assert wanted["name"] == held.inputs["name"]
        assert keys.diff(seen, wanted).replaces == ["name", "tags"]

    def test_K7_old_state_without_metadata_is_filled_in_without_a_rotation(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(wish(licensed))
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
        news = keys.check(wish(licensed), old.inputs).inputs
        assert news["name"] == held.inputs["name"]
        assert keys.diff(old, news).replaces == []

    def test_K3_another_deployment_is_named_and_the_key_there_is_none_of_ours(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(wish(licensed))
        with simulated(licensed=True) as other:
            moved = replace(
                held,
                outputs={**held.outputs, "connection": other.connection, "token": other.token},
            )
            seen = keys.read(moved)
            assert seen is not None, "another deployment says nothing about this key"
            news = keys.check(wish(other), held.inputs).inputs
            assert "deployment_id" in keys.diff(seen, news).replaces
            theirs = other.act("POST", KEYS, {"name": held.outputs["name"]})
            keys.delete(moved)
            assert opens(other, theirs["key"]), "a namesake of another deployment is left alone"


class TestDiff:
    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"organization": "default"}, {"organization", "name"}),
            ({"tags": {"region": "us"}}, {"tags", "name"}),
            ({"base_name": "squad"}, {"name"}),
            ({"deployment_id": "0c7f6cf7-91c0-4f2d-8f0e-5f1f5b1c7f00"}, {"deployment_id", "name"}),
            ({"trigger": "leaked"}, {"trigger", "name"}),
        ],
    )
    def test_K5_each_difference_replaces_by_creating_first(
        self, licensed: Simulation, keys: Driven, change: dict[str, Any], named: set[str]
    ) -> None:
        held = keys.create(wish(licensed))
        news = keys.check(wish(licensed, **change), held.inputs).inputs
        difference = keys.diff(held, news)
        assert (set(difference.replaces), difference.delete_first) == (named, False)
        assert difference.changes == "unknown", "the engine compares the inputs itself"

    def test_K5_an_exact_name_is_deleted_first(self, licensed: Simulation, keys: Driven) -> None:
        exact = wish(licensed, base_name="Fleet", exact_name=True)
        held = keys.create(exact)
        assert held.outputs["name"] == "fleet"
        news = keys.check({**exact, "trigger": "now"}, held.inputs).inputs
        difference = keys.diff(held, news)
        assert (difference.replaces, difference.delete_first) == (["trigger"], True)

    def test_K5_a_key_that_is_old_enough_is_replaced(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        aged = wish(licensed, rotate_after_days=30)
        held = keys.create(aged)
        old = {**held.inputs, "issued_on": "2020-01-01"}
        news = keys.check(aged, old).inputs
        grown = replace(held, outputs={**held.outputs, "issued_on": "2020-01-01"})
        assert "issued_on" in keys.diff(grown, news).replaces
        assert news["issued_on"] == held.inputs["issued_on"]

    def test_K3_a_new_url_of_the_same_deployment_keeps_the_key(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(wish(licensed))
        other_way = {"url": licensed.url.replace("127.0.0.1", "localhost")}
        news = wish(licensed, connection=other_way)
        assert keys.diff(held, keys.check(news, held.inputs).inputs).replaces == []
        licensed.forget_requests()
        updated = keys.update(held, news)
        assert licensed.requests() == []
        assert updated.outputs["material"] == held.outputs["material"]
        assert updated.outputs.keys() == held.outputs.keys()

    @pytest.mark.parametrize(
        ("bytes_in_secret", "state"),
        [("ours", "current"), ("", "missing"), ("0" * 64, "different")],
    )
    def test_K3_K4_the_secrets_bytes_are_compared_without_rotating(
        self, licensed: Simulation, keys: Driven, bytes_in_secret: str, state: str
    ) -> None:
        held = keys.create(wish(licensed))
        digest = held.outputs["material_sha256"] if bytes_in_secret == "ours" else bytes_in_secret
        seen = wish(licensed, secret_sha256=digest)
        news = keys.check(seen, held.inputs).inputs
        assert {k for k in news if news[k] != held.inputs.get(k)} == {"secret_sha256"}
        assert keys.diff(held, news).replaces == []
        assert keys.update(held, seen).outputs["secret_state"] == state


class TestGate:
    def test_E4_without_entitlement_no_call_is_made_and_the_next_run_opens_it(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(wish(licensed, enabled=False))
        assert (held.id, held.outputs["reason"]) == (NOT_PROVISIONED, "NotEntitled")
        seen = keys.read(held)
        assert seen is not None
        assert seen.inputs == held.inputs
        still = keys.check(wish(licensed, enabled=False, tags={}), held.inputs).inputs
        assert keys.diff(held, still).replaces == []
        keys.delete(held)
        assert licensed.requests() == []

        news = keys.check(wish(licensed), held.inputs).inputs
        assert keys.diff(held, news).replaces == ["enabled"]
        real = keys.create(wish(licensed))
        assert opens(licensed, real.outputs["material"])

    def test_E5_a_lost_license_keeps_the_key_and_puts_rotations_off(
        self, licensed: Simulation, keys: Driven, said: Said
    ) -> None:
        held = keys.create(wish(licensed))
        licensed.lose_licenses()

        seen = keys.read(held)
        assert seen is not None
        assert (seen.inputs, seen.outputs["reason"]) == (held.inputs, "NotEntitled")

        closed = wish(licensed, enabled=False, tags={"region": "us"}, trigger="now")
        news = keys.check(closed, held.inputs).inputs
        changed = {k for k in news if news[k] != held.inputs.get(k)}
        assert changed == {"enabled", "deferred"}
        assert news["deferred"] == ["tags", "trigger"]
        assert "put off until it is entitled again: tags, trigger." in said()
        assert keys.diff(held, news).replaces == []
        after = keys.update(held, closed)
        assert after.outputs["material"] == held.outputs["material"]
        assert after.outputs["reason"] == "NotEntitled"
        assert keys.check(closed, after.inputs).inputs == after.inputs

        reopened = keys.check({**closed, "enabled": True}, after.inputs).inputs
        assert reopened["deferred"] == []
        assert set(keys.diff(after, reopened).replaces) == {"name", "tags", "trigger"}


class TestDelete:
    def test_K6_the_applied_key_is_deleted_and_again_is_success(
        self, licensed: Simulation, keys: Driven, said: Said
    ) -> None:
        held = keys.create(wish(licensed))
        heard = said()
        keys.delete(held)
        assert names(licensed) == []
        keys.delete(held)
        assert said() == heard

    def test_K6_a_successor_under_the_same_name_is_left_alone(
        self, licensed: Simulation, keys: Driven
    ) -> None:
        held = keys.create(wish(licensed))
        successor = keys.create_checked(held.inputs)
        keys.delete(held)
        assert opens(licensed, successor.outputs["material"])

    def test_K6_what_cannot_be_removed_is_a_warning_that_names_it(
        self, licensed: Simulation, keys: Driven, said: Said
    ) -> None:
        held = keys.create(wish(licensed))
        licensed.lose_licenses()
        keys.delete(held)
        assert f'NotEntitled: provisioner key "{held.outputs["name"]}"' in said()
        assert names(licensed) == [held.outputs["name"]]


def test_no_secret_is_in_what_people_see(licensed: Simulation, keys: Driven, said: Said) -> None:
    held = keys.create(wish(licensed))
    licensed.fault("status", KEYS, status=500, count=-1, body={"message": "Internal error"})
    with pytest.raises(Failure) as failure:
        keys.read(held)
    keys.delete(held)
    for text in (str(failure.value), said(), str(held.inputs)):
        assert held.outputs["material"] not in text
        assert licensed.token not in text


def test_secret_outputs_are_declared_by_the_model() -> None:
    assert ProvisionerKeyProvider.state_model.secret_fields() == ["material"]
