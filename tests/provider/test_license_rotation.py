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

    with provider_process(coderd.config) as earlier:
        first = earlier.of(LicenseProvider()).create(inputs(coderd, a))
    with provider_process(coderd.config) as this_run:
        rotated = this_run.of(LicenseProvider())
        second = rotated.create(inputs(coderd, b))
        assert len(coderd.license_ids()) == 3, "created before the old one is deleted"
        rotated.delete(first)
    again = licenses.create(inputs(coderd, a))
    licenses.delete(second)

    assert coderd.license_ids() == sorted([foreign, int(again.outputs["license_id"])])
    with provider_process(coderd.config) as destroy:
        licenses = destroy.of(LicenseProvider())
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
    with provider_process(coderd.config) as destroy:
        destroy.of(LicenseProvider()).delete(misled)
    assert coderd.license_ids() == [foreign]


def test_X1_a_superseded_license_that_an_outage_has_kept_is_deleted_by_a_later_run(
    coderd: Simulation, process: ProviderProcess
) -> None:
    """Also if that run has nothing else to do: another one has uploaded the new license."""
    before = process.of(LicenseProvider()).create(inputs(coderd, license_text()))
    (old,) = coderd.license_ids()
    wanted = inputs(coderd, license_text(days=200))
    after = process.of(LicenseProvider()).create(wanted)
    with provider_process(coderd.config, {"CODER_STACK_DEADLINE": "1"}) as later:
        licenses = later.of(LicenseProvider())
        assert licenses.check(wanted, after.inputs).failures == []
        coderd.fault("status", f"/api/v2/licenses/{old}", status=503, count=-1)
        with pytest.raises(Failure, match="It is superseded; the next run tries again"):
            licenses.delete(before)
        coderd.peace()
        licenses.delete(before)
    assert coderd.license_ids() == [int(after.outputs["license_id"])]


def test_L4_a_superseded_license_that_stayed_is_tried_once_more_by_the_next_run(
    coderd: Simulation, process: ProviderProcess
) -> None:
    before = process.of(LicenseProvider()).create(inputs(coderd, license_text()))
    (old,) = coderd.license_ids()
    coderd.refuse(500, "An internal server error occurred.", f"/api/v2/licenses/{old}", count=-1)

    with provider_process(coderd.config) as this_run:
        licenses = this_run.of(LicenseProvider())
        licenses.create(inputs(coderd, license_text(days=200)))
        with pytest.raises(Failure) as failed:
            licenses.delete(before)
    assert failed.value.last.startswith(f"Failed: Error: license {old}, delete: ")
    assert failed.value.last.endswith("It is superseded; the next run tries again.")

    with provider_process(coderd.config) as next_run:
        next_run.of(LicenseProvider()).delete(before)
        assert f"license {old}, delete: " in next_run.stderr, "still not, but it blocks no longer"

    coderd.peace()
    with provider_process(coderd.config) as last_run:
        last_run.of(LicenseProvider()).delete(before)
    assert old not in coderd.license_ids()


class TestTakenBack:
    """L10: A → B in an update that fails, then A again; old A and B are pending deletes."""

    def test_L10_the_pending_delete_leaves_the_license_that_was_taken_up_again(
        self, coderd: Simulation, licenses: Driven
    ) -> None:
        a, b = license_text(jti=JTI), license_text(days=50)
        first, second = (licenses.create(inputs(coderd, text)) for text in (a, b))

        with provider_process(coderd.config) as way_back:
            again = way_back.of(LicenseProvider()).create(inputs(coderd, a))
            way_back.of(LicenseProvider()).delete(first)
            way_back.of(LicenseProvider()).delete(second)
        assert coderd.license_ids() == [int(again.outputs["license_id"])]

        with provider_process(coderd.config) as destroy:
            destroy.of(LicenseProvider()).delete(again)
        assert coderd.license_ids() == []

    def test_L10_a_run_that_only_checks_the_license_leaves_it_as_well(
        self, coderd: Simulation, licenses: Driven
    ) -> None:
        """The way back may have died between its create and its deletes."""
        wanted = inputs(coderd, license_text(jti=JTI))
        first = licenses.create(wanted)
        with provider_process(coderd.config) as way_back:
            again = way_back.of(LicenseProvider()).create(wanted)
        with provider_process(coderd.config) as next_run:
            next_run.of(LicenseProvider()).check(wanted, again.inputs)
            next_run.of(LicenseProvider()).delete(first)
        assert coderd.license_ids() == [int(again.outputs["license_id"])]

    def test_L10_one_that_another_coderd_wants_is_deleted_here(
        self, coderd: Simulation, licenses: Driven
    ) -> None:
        text = license_text(jti=JTI)
        held = licenses.create(inputs(coderd, text))
        with simulated() as other, provider_process(coderd.config) as next_run:
            moved = next_run.of(LicenseProvider())
            moved.create(inputs(other, text))
            moved.delete(held)
            assert (coderd.license_ids(), len(other.license_ids())) == ([], 1)


@pytest.mark.parametrize("status", [401, 403, 409, 500, 503])
def test_K6_a_license_that_cannot_be_deleted_is_named_and_blocks_no_destroy(status: int) -> None:
    with (
        simulated() as coderd,
        provider_process(coderd.config) as earlier,
        provider_process(coderd.config, environment={"CODER_STACK_DEADLINE": "1"}) as process,
    ):
        held = earlier.of(LicenseProvider()).create(inputs(coderd, license_text()))
        coderd.refuse(status, "No.", "/api/v2/licenses/*", count=-1)
        process.of(LicenseProvider()).delete(held)
        assert f"license {held.outputs['license_id']}, delete: Cannot delete" in process.stderr
        assert "It may still be there; remove it by hand." in process.stderr
