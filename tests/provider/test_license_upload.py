"""Uploading a license: once, with the token at hand, and only to a build that knows licenses."""

from collections.abc import Iterator

import pytest

from coder_stack.dynamic.license import LicenseProvider
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from tests.provider.driver import Driven, Failure, ProviderProcess, provider_process
from tests.provider.licenses import JTI, inputs, uploads
from tests.simulation import OWNER_TOKEN, Simulation, license_text, simulated


def test_L3_L8_create_uploads_once_and_keeps_hash_time_and_both_dates(
    coderd: Simulation, licenses: Driven
) -> None:
    held = licenses.create(inputs(coderd, license_text(jti=JTI, days=100)))

    assert held.outputs["uuid"] == JTI
    assert held.outputs["license_id"] == str(coderd.license_ids()[0])
    assert len(held.outputs["last_applied_hash"]) == 64
    assert held.id == held.outputs["last_applied_hash"][:16]
    assert held.outputs["last_applied"]
    assert held.outputs["license_expires"] < held.outputs["exp"]
    assert (held.outputs["applied"], held.outputs["reason"]) == (True, "Applied")

    seen = licenses.read(held)
    assert seen is not None
    assert seen.outputs == held.outputs
    assert seen.inputs == held.inputs
    assert uploads(coderd) == 1


def test_L5_already_there_is_adopted(coderd: Simulation, licenses: Driven) -> None:
    jwt = license_text(jti=JTI)
    there = coderd.act("POST", "/api/v2/licenses", {"license": jwt})["id"]
    held = licenses.create(inputs(coderd, jwt))
    assert held.outputs["license_id"] == str(there)
    assert coderd.license_ids() == [there]


@pytest.mark.parametrize("kind", ["drop_after", "drop_before"])
def test_U3_a_lost_answer_is_looked_up_before_it_is_repeated(
    coderd: Simulation, licenses: Driven, kind: str
) -> None:
    coderd.fault(kind, "/api/v2/licenses", method="POST")
    held = licenses.create(inputs(coderd, license_text()))
    assert coderd.license_ids() == [int(held.outputs["license_id"])]


@pytest.mark.parametrize("beside", [{}, {"token": OWNER_TOKEN}])
def test_L2_CP10_without_a_token_at_its_home_nothing_is_uploaded(
    coderd: Simulation, beside: dict[str, str]
) -> None:
    """One beside the license would be unknown to every later refresh and destroy."""
    with provider_process({}) as process, pytest.raises(Failure) as failed:
        process.of(LicenseProvider()).create(inputs(coderd, license_text(), **beside))
    assert "Pending: license, create: " in failed.value.last
    assert uploads(coderd) == 0


def test_CP10_a_given_token_is_in_no_state(coderd: Simulation, licenses: Driven) -> None:
    held = licenses.create(inputs(coderd, license_text()))
    assert coderd.token not in str(held)


def test_CP6_a_newer_token_of_this_run_is_no_drift(
    coderd: Simulation, licenses: Driven, shared_process: ProviderProcess
) -> None:
    held = licenses.create(inputs(coderd, license_text()))
    newer = coderd.act("POST", "/_sim/users", {"username": "o2", "roles": ["owner"]})["token"]
    access = shared_process.of(OperatorAccessProvider())
    access.check({"connection": coderd.connection, "token": newer})
    coderd.act("DELETE", f"/api/v2/users/me/keys/{coderd.token.partition('-')[0]}")
    seen = licenses.read(held)
    assert seen is not None, "the newer one is used"
    assert seen.inputs == held.inputs


@pytest.fixture
def agpl() -> Iterator[Simulation]:
    with simulated(agpl=True) as simulation:
        yield simulation


def test_L7_an_agpl_build_is_a_condition_and_not_a_failure(
    agpl: Simulation, process: ProviderProcess
) -> None:
    licenses = process.of(LicenseProvider())
    held = licenses.create(inputs(agpl, license_text()))
    assert held.inputs["supported"] is False
    assert held.outputs["reason"] == "NotSupported"
    assert held.outputs["applied"] is False
    assert "warning: NotSupported: " in process.stderr

    seen = licenses.read(held)
    assert seen is not None
    assert seen.inputs == held.inputs
    licenses.delete(held)


def test_L7_once_the_build_has_licenses_the_next_preview_uploads(
    agpl: Simulation, coderd: Simulation, licenses: Driven
) -> None:
    held = licenses.create(inputs(agpl, license_text()))
    # The same state, now that an enterprise build answers.
    moved = {**held.outputs, "connection": coderd.connection}
    held = type(held)(held.id, moved, {**held.inputs, "connection": coderd.connection})
    news = licenses.check(inputs(coderd, held.inputs["jwt"]), held.inputs).inputs
    assert licenses.diff(held, news).replaces == ["supported"]
    assert licenses.read(held) is None


def test_update_keeps_every_output_and_uploads_nothing(
    coderd: Simulation, licenses: Driven
) -> None:
    jwt = license_text()
    held = licenses.create(inputs(coderd, jwt))
    now = licenses.update(held, inputs(coderd, jwt, warn_days=7))
    assert now.outputs == {**held.outputs, "warn_days": 7}
    assert uploads(coderd) == 1


def test_update_to_a_deployment_that_lacks_the_license_uploads_it_there(
    coderd: Simulation, licenses: Driven
) -> None:
    jwt = license_text()
    held = licenses.create(inputs(coderd, jwt))
    with simulated() as other:
        now = licenses.update(held, inputs(other, jwt))
        assert other.license_ids() == [int(now.outputs["license_id"])]
