"""Licenses through the real provider process, method by method."""

from collections.abc import Iterator
from typing import Any

import pytest

from coder_stack.dynamic.license import LicenseProvider
from tests.provider.driver import UNKNOWN, Driven, Failure, ProviderProcess, provider_process
from tests.simulation import Simulation, license_text, simulated

JTI = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


@pytest.fixture
def driven(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(LicenseProvider())


def inputs(coderd: Simulation, jwt: str, **more: Any) -> dict[str, Any]:
    return {"connection": coderd.connection, "token": coderd.token, "jwt": jwt, **more}


def uploads(coderd: Simulation) -> int:
    return len(coderd.requests("POST", "/licenses"))


def test_L3_L8_create_uploads_once_and_keeps_hash_time_and_both_dates(
    coderd: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(coderd, license_text(jti=JTI, days=100)))

    assert held.outputs["uuid"] == JTI
    assert held.outputs["license_id"] == str(coderd.license_ids()[0])
    assert len(held.outputs["last_applied_hash"]) == 64
    assert held.id == held.outputs["last_applied_hash"][:16]
    assert held.outputs["last_applied"]
    assert held.outputs["license_expires"] < held.outputs["exp"]
    assert (held.outputs["applied"], held.outputs["reason"]) == (True, "Applied")

    seen = driven.read(held)
    assert seen is not None
    assert seen.outputs == held.outputs
    assert seen.inputs == held.inputs
    assert uploads(coderd) == 1


def test_CP6_the_token_is_in_the_outputs_only(coderd: Simulation, driven: Driven) -> None:
    held = driven.create(inputs(coderd, license_text()))
    assert "token" not in held.inputs
    assert held.outputs["token"] == coderd.token


def test_L1_the_text_is_trimmed_and_numbers_may_be_floats(
    coderd: Simulation, driven: Driven
) -> None:
    jwt = license_text()
    plain = driven.check(inputs(coderd, jwt, warn_days=14))
    padded = driven.check(inputs(coderd, f"  {jwt}\n", warn_days=14.0))
    assert plain == padded
    assert plain.inputs["jwt"] == jwt
    assert plain.inputs["warn_days"] == 14


@pytest.mark.parametrize("nothing", ["", "  \n"])
def test_L1_an_empty_license_fails_as_SecretMissing_and_uploads_nothing(
    coderd: Simulation, driven: Driven, nothing: str
) -> None:
    ((path, why),) = driven.check(inputs(coderd, nothing)).failures
    assert path == ""
    assert why.startswith("SecretMissing: ")
    assert uploads(coderd) == 0


@pytest.mark.parametrize(
    ("terms", "more", "reason"),
    [
        ({"days": -60, "grace_days": 30}, {}, "Expired"),
        ({"nbf_days": 3}, {}, "NotYetValid"),
        ({"deployment_ids": ("another",)}, {}, "WrongDeployment"),
        ({"feature_set": "enterprise"}, {"needed_features": ["custom_roles"]}, "FeatureMissing"),
        ({"require_telemetry": True}, {}, "TelemetryRequired"),
    ],
)
def test_L8_preflight_refuses_at_preview(
    coderd: Simulation, driven: Driven, terms: Any, more: Any, reason: str
) -> None:
    failures = driven.check(inputs(coderd, license_text(**terms), **more)).failures
    assert [why.split(":")[0] for _, why in failures] == [reason]
    assert [path for path, _ in failures] == [""]
    assert uploads(coderd) == 0


def test_L8_no_jwt_is_refused_without_being_repeated(coderd: Simulation, driven: Driven) -> None:
    ((path, why),) = driven.check(inputs(coderd, "hunter2-is-no-jwt")).failures
    assert (path, why.split(":")[0]) == ("", "NotAJwt")
    assert "hunter2" not in why


@pytest.mark.parametrize(
    ("terms", "said"), [({"days": -1}, "InGrace"), ({"days": 5}, "ExpiringSoon")]
)
def test_L8_grace_and_a_near_end_are_warnings(
    coderd: Simulation, process: ProviderProcess, terms: Any, said: str
) -> None:
    checked = process.of(LicenseProvider()).check(inputs(coderd, license_text(**terms)))
    assert checked.failures == []
    assert f"warning: {said}: " in process.stderr


def test_L8_E5_an_applied_license_that_ran_out_blocks_nothing_else(
    coderd: Simulation, process: ProviderProcess
) -> None:
    driven = process.of(LicenseProvider())
    expired = license_text(days=-60, grace_days=30)
    old = {"connection": coderd.connection, "jwt": expired}
    assert driven.check(inputs(coderd, expired), old).failures == []
    assert "warning: Expired: " in process.stderr


def test_unknowns_pass_through_check_and_what_is_known_is_still_judged(
    coderd: Simulation, driven: Driven
) -> None:
    unknown = {"connection": {"url": UNKNOWN}, "deployment_id": UNKNOWN, "token": UNKNOWN}
    good = driven.check({**unknown, "jwt": license_text()})
    assert good.failures == []
    assert good.inputs["connection"] == {"url": UNKNOWN}
    assert good.inputs["deployment_id"] == UNKNOWN
    assert "token" not in good.inputs
    assert driven.check({**unknown, "jwt": "no jwt"}).failures
    jwt_unknown = driven.check(inputs(coderd, UNKNOWN))
    assert (jwt_unknown.failures, jwt_unknown.inputs["jwt"]) == ([], UNKNOWN)


def test_CP6_an_unknown_deployment_id_is_asked_of_coderd_itself(
    coderd: Simulation, driven: Driven
) -> None:
    """It is unknown in a preview that renews the token, and that must be no change of this."""
    deployment = coderd.world.records.deployment_id
    jwt = license_text()
    held = driven.create(inputs(coderd, jwt, deployment_id=deployment))
    news = driven.check(inputs(coderd, jwt, deployment_id=UNKNOWN) | {"token": UNKNOWN})
    assert news.inputs == held.inputs


def test_L4_another_text_replaces_and_leaves_the_comparison_to_the_engine(
    coderd: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(coderd, license_text(jti=JTI)))
    other = driven.check(inputs(coderd, license_text(days=10)), held.inputs).inputs
    assert driven.diff(held, held.inputs).replaces == []
    assert driven.diff(held, {**held.inputs, "warn_days": 3}).replaces == []
    difference = driven.diff(held, other)
    assert difference.replaces == ["jwt"]
    assert (difference.changes, difference.delete_first) == ("unknown", False)
    # In a preview the Secret may not exist yet: that is no proof of another license.
    assert driven.diff(held, {**held.inputs, "jwt": UNKNOWN}).replaces == []


def test_L4_rotation_A_B_A_leaves_one_license_and_never_touches_a_foreign_one(
    coderd: Simulation, driven: Driven
) -> None:
    foreign = coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=999)})["id"]
    a, b = license_text(jti=JTI), license_text(days=50)

    first = driven.create(inputs(coderd, a))
    second = driven.create(inputs(coderd, b))
    assert len(coderd.license_ids()) == 3, "created before the old one is deleted"
    driven.delete(first)
    again = driven.create(inputs(coderd, a))
    driven.delete(second)

    assert coderd.license_ids() == sorted([foreign, int(again.outputs["license_id"])])
    driven.delete(again)
    assert coderd.license_ids() == [foreign]
    driven.delete(again)  # 404 is success


def test_L4_a_foreign_license_under_our_old_number_is_not_deleted(
    coderd: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(coderd, license_text(jti=JTI)))
    foreign = coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=9)})["id"]
    coderd.act("DELETE", f"/api/v2/licenses/{held.outputs['license_id']}")
    misled = type(held)(held.id, {**held.outputs, "license_id": str(foreign)}, held.inputs)
    driven.delete(misled)
    assert coderd.license_ids() == [foreign]


def test_L5_already_there_is_adopted(coderd: Simulation, driven: Driven) -> None:
    jwt = license_text(jti=JTI)
    there = coderd.act("POST", "/api/v2/licenses", {"license": jwt})["id"]
    held = driven.create(inputs(coderd, jwt))
    assert held.outputs["license_id"] == str(there)
    assert coderd.license_ids() == [there]


@pytest.mark.parametrize("kind", ["drop_after", "drop_before"])
def test_U3_a_lost_answer_is_looked_up_before_it_is_repeated(
    coderd: Simulation, driven: Driven, kind: str
) -> None:
    coderd.fault(kind, "/api/v2/licenses", method="POST")
    held = driven.create(inputs(coderd, license_text()))
    assert coderd.license_ids() == [int(held.outputs["license_id"])]


def test_L6_gone_among_others_and_gone_altogether(coderd: Simulation, driven: Driven) -> None:
    held = driven.create(inputs(coderd, license_text(jti=JTI)))
    other = coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=9)})["id"]
    coderd.act("DELETE", f"/api/v2/licenses/{held.outputs['license_id']}")
    assert driven.read(held) is None
    coderd.act("DELETE", f"/api/v2/licenses/{other}")
    assert driven.read(held) is None


def test_L6_a_reissued_license_with_our_jti_is_not_ours(coderd: Simulation, driven: Driven) -> None:
    held = driven.create(inputs(coderd, license_text(jti=JTI)))
    coderd.act("POST", "/api/v2/licenses", {"license": license_text(jti=JTI, days=9)})
    coderd.act("DELETE", f"/api/v2/licenses/{held.outputs['license_id']}")
    assert driven.read(held) is None


def test_L6_uploaded_again_by_hand_is_still_ours(coderd: Simulation, driven: Driven) -> None:
    jwt = license_text()
    held = driven.create(inputs(coderd, jwt))
    coderd.act("DELETE", f"/api/v2/licenses/{held.outputs['license_id']}")
    number = coderd.act("POST", "/api/v2/licenses", {"license": jwt})["id"]
    seen = driven.read(held)
    assert seen is not None
    assert seen.outputs["license_id"] == str(number)
    assert (seen.id, seen.inputs) == (held.id, held.inputs)


def test_U1_a_user_who_may_not_look_sees_an_empty_list_and_that_is_not_gone(
    coderd: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(coderd, license_text()))
    member = coderd.act("POST", "/_sim/users", {"username": "member"})["token"]
    driven.check(inputs(coderd, license_text()) | {"token": member})
    with pytest.raises(Failure) as failed:
        driven.read(held)
    assert "Forbidden: license, read: Cannot list licenses" in failed.value.last


@pytest.mark.parametrize(
    ("status", "message", "reason"),
    [
        (401, "You are signed out or your session has expired.", "Forbidden"),
        (403, "Forbidden.", "Forbidden"),
        (500, "An internal server error occurred.", "Error"),
        (200, "this is no list", "Error"),
    ],
)
def test_U1_L7_an_error_is_named_and_is_never_gone(
    coderd: Simulation, driven: Driven, status: int, message: str, reason: str
) -> None:
    jwt = license_text()
    held = driven.create(inputs(coderd, jwt))
    coderd.refuse(status, message, "/api/v2/licenses", count=-1)
    with pytest.raises(Failure) as failed:
        driven.read(held)
    assert str(failed.value).startswith(f"Failed: {reason}: license, read: Cannot list licenses")
    assert len(str(failed.value).splitlines()) == 1, "no traceback"
    assert jwt not in str(failed.value)
    assert coderd.token not in str(failed.value)


@pytest.mark.parametrize("kind", ["garbage", "html"])
def test_U1_what_is_not_coderd_is_never_gone(coderd: Simulation, driven: Driven, kind: str) -> None:
    held = driven.create(inputs(coderd, license_text()))
    coderd.fault(kind, "/api/v2/licenses", count=-1, status=200)
    with pytest.raises(Failure) as failed:
        driven.read(held)
    assert "Error: license, read: Cannot list licenses" in failed.value.last


def test_L2_without_operator_access_nothing_is_uploaded(coderd: Simulation, driven: Driven) -> None:
    wanted = {"connection": coderd.connection, "jwt": license_text()}
    with pytest.raises(Failure) as failed:
        driven.create(wanted)
    assert "Pending: license, create: " in failed.value.last
    assert uploads(coderd) == 0


@pytest.fixture
def agpl() -> Iterator[Simulation]:
    with simulated(agpl=True) as simulation:
        yield simulation


def test_L7_an_agpl_build_is_a_condition_and_not_a_failure(
    agpl: Simulation, process: ProviderProcess
) -> None:
    driven = process.of(LicenseProvider())
    held = driven.create(inputs(agpl, license_text()))
    assert held.inputs["supported"] is False
    assert held.outputs["reason"] == "NotSupported"
    assert held.outputs["applied"] is False
    assert "warning: NotSupported: " in process.stderr

    seen = driven.read(held)
    assert seen is not None
    assert seen.inputs == held.inputs
    driven.delete(held)


def test_L7_once_the_build_has_licenses_the_next_preview_uploads(
    agpl: Simulation, coderd: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(agpl, license_text()))
    # The same state, now that an enterprise build answers.
    moved = {**held.outputs, "connection": coderd.connection, "token": coderd.token}
    held = type(held)(held.id, moved, {**held.inputs, "connection": coderd.connection})
    news = driven.check(inputs(coderd, held.inputs["jwt"]), held.inputs).inputs
    assert driven.diff(held, news).replaces == ["supported"]
    assert driven.read(held) is None


def test_update_keeps_every_output_and_uploads_nothing(coderd: Simulation, driven: Driven) -> None:
    jwt = license_text()
    held = driven.create(inputs(coderd, jwt))
    now = driven.update(held, inputs(coderd, jwt, warn_days=7))
    assert now.outputs == {**held.outputs, "warn_days": 7}
    assert uploads(coderd) == 1


def test_update_to_a_deployment_that_lacks_the_license_uploads_it_there(
    coderd: Simulation, driven: Driven
) -> None:
    jwt = license_text()
    held = driven.create(inputs(coderd, jwt))
    with simulated() as other:
        now = driven.update(held, inputs(other, jwt))
        assert other.license_ids() == [int(now.outputs["license_id"])]


@pytest.mark.parametrize("status", [401, 403, 409, 500, 503])
def test_K6_a_license_that_cannot_be_deleted_is_named_and_blocks_no_destroy(status: int) -> None:
    with (
        simulated() as coderd,
        provider_process(environment={"CODER_STACK_DEADLINE": "1"}) as process,
    ):
        driven = process.of(LicenseProvider())
        held = driven.create(inputs(coderd, license_text()))
        coderd.refuse(status, "No.", "/api/v2/licenses/*", count=-1)
        driven.delete(held)
        assert f"license {held.outputs['license_id']}, delete: Cannot delete" in process.stderr
        assert "It may still be there; remove it by hand." in process.stderr


def test_L4_a_superseded_license_that_stayed_is_tried_once_more_by_the_next_run(
    coderd: Simulation, process: ProviderProcess
) -> None:
    before = process.of(LicenseProvider()).create(inputs(coderd, license_text()))
    (old,) = coderd.license_ids()
    coderd.refuse(500, "An internal server error occurred.", f"/api/v2/licenses/{old}", count=-1)

    with provider_process() as this_run:
        driven = this_run.of(LicenseProvider())
        driven.create(inputs(coderd, license_text(days=200)))
        with pytest.raises(Failure) as failed:
            driven.delete(before)
    assert failed.value.last.startswith(f"Failed: Error: license {old}, delete: ")
    assert failed.value.last.endswith("It is superseded; the next run tries again.")

    with provider_process() as next_run:
        next_run.of(LicenseProvider()).delete(before)
        assert f"license {old}, delete: " in next_run.stderr, "still not, but it blocks no longer"

    coderd.peace()
    with provider_process() as last_run:
        last_run.of(LicenseProvider()).delete(before)
    assert old not in coderd.license_ids()


def test_CP6_the_newest_token_is_used_config_before_run_before_state(
    coderd: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(coderd, license_text()))
    newer = coderd.act("POST", "/_sim/users", {"username": "o2", "roles": ["owner"]})["token"]
    driven.check(inputs(coderd, license_text()) | {"token": newer})
    seen = driven.read(held)
    assert seen is not None
    assert seen.outputs["token"] == newer, "read renews the copy in state"
    assert seen.inputs == held.inputs, "and that is no drift"
