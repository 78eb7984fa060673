"""The end of a license: another takes its place, foreign ones stay, and none blocks a destroy."""

import pytest

from coder_stack.dynamic.license import LicenseProvider
from tests.provider.driver import UNKNOWN, Driven, Failure, ProviderProcess, provider_process
from tests.provider.licenses import JTI, inputs
from tests.simulation import Simulation, license_text, simulated


def test_L4_another_text_replaces_and_leaves_the_comparison_to_the_engine(
    coderd: Simulation, licenses: Driven
) -> None:
    held = licenses.create(inputs(coderd, license_text(jti=JTI)))
    other = licenses.check(inputs(coderd, license_text(days=10)), held.inputs).inputs
    assert licenses.diff(held, held.inputs).replaces == []
    assert licenses.diff(held, {**held.inputs, "warn_days": 3}).replaces == []
    difference = licenses.diff(held, other)
    assert difference.replaces == ["jwt"]
    assert (difference.changes, difference.delete_first) == ("unknown", False)
    # In a preview the Secret may not exist yet: that is no proof of another license.
    assert licenses.diff(held, {**held.inputs, "jwt": UNKNOWN}).replaces == []


def test_L4_rotation_A_B_A_leaves_one_license_and_never_touches_a_foreign_one(
    coderd: Simulation, licenses: Driven
) -> None:
    foreign = coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=999)})["id"]
    a, b = license_text(jti=JTI), license_text(days=50)

    first = licenses.create(inputs(coderd, a))
    second = licenses.create(inputs(coderd, b))
    assert len(coderd.license_ids()) == 3, "created before the old one is deleted"
    licenses.delete(first)
    again = licenses.create(inputs(coderd, a))
    licenses.delete(second)

    assert coderd.license_ids() == sorted([foreign, int(again.outputs["license_id"])])
    licenses.delete(again)
    assert coderd.license_ids() == [foreign]
    licenses.delete(again)  # 404 is success


def test_L4_a_foreign_license_under_our_old_number_is_not_deleted(
    coderd: Simulation, licenses: Driven
) -> None:
    held = licenses.create(inputs(coderd, license_text(jti=JTI)))
    foreign = coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=9)})["id"]
    coderd.act("DELETE", f"/api/v2/licenses/{held.outputs['license_id']}")
    misled = type(held)(held.id, {**held.outputs, "license_id": str(foreign)}, held.inputs)
    licenses.delete(misled)
    assert coderd.license_ids() == [foreign]


def test_L4_a_superseded_license_that_stayed_is_tried_once_more_by_the_next_run(
    coderd: Simulation, process: ProviderProcess
) -> None:
    before = process.of(LicenseProvider()).create(inputs(coderd, license_text()))
    (old,) = coderd.license_ids()
    config = {"token": coderd.token}
    coderd.refuse(500, "An internal server error occurred.", f"/api/v2/licenses/{old}", count=-1)

    with provider_process(config=config) as this_run:
        licenses = this_run.of(LicenseProvider())
        licenses.create(inputs(coderd, license_text(days=200)))
        with pytest.raises(Failure) as failed:
            licenses.delete(before)
    assert failed.value.last.startswith(f"Failed: Error: license {old}, delete: ")
    assert failed.value.last.endswith("It is superseded; the next run tries again.")

    with provider_process(config=config) as next_run:
        next_run.of(LicenseProvider()).delete(before)
        assert f"license {old}, delete: " in next_run.stderr, "still not, but it blocks no longer"

    coderd.peace()
    with provider_process(config=config) as last_run:
        last_run.of(LicenseProvider()).delete(before)
    assert old not in coderd.license_ids()


@pytest.mark.parametrize("status", [401, 403, 409, 500, 503])
def test_K6_a_license_that_cannot_be_deleted_is_named_and_blocks_no_destroy(status: int) -> None:
    with (
        simulated() as coderd,
        provider_process(environment={"CODER_STACK_DEADLINE": "1"}) as process,
    ):
        licenses = process.of(LicenseProvider())
        held = licenses.create(inputs(coderd, license_text()))
        coderd.refuse(status, "No.", "/api/v2/licenses/*", count=-1)
        licenses.delete(held)
        assert f"license {held.outputs['license_id']}, delete: Cannot delete" in process.stderr
        assert "It may still be there; remove it by hand." in process.stderr
