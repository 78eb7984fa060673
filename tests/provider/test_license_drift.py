"""What a refresh finds of a license: ours, gone, or not to be seen."""

import pytest

from coder_stack.dynamic.license import LicenseProvider
from tests.provider.driver import Driven, Failure, provider_process
from tests.provider.licenses import JTI, NO_LIST, inputs
from tests.simulation import Simulation, license_text


def test_L6_gone_among_others_and_gone_altogether(coderd: Simulation, licenses: Driven) -> None:
    held = licenses.create(inputs(coderd, license_text(jti=JTI)))
    other = coderd.act("POST", "/api/v2/licenses", {"license": license_text(days=9)})["id"]
    coderd.act("DELETE", f"/api/v2/licenses/{held.outputs['license_id']}")
    assert licenses.read(held) is None
    coderd.act("DELETE", f"/api/v2/licenses/{other}")
    assert licenses.read(held) is None


def test_L6_a_reissued_license_with_our_jti_is_not_ours(
    coderd: Simulation, licenses: Driven
) -> None:
    held = licenses.create(inputs(coderd, license_text(jti=JTI)))
    coderd.act("POST", "/api/v2/licenses", {"license": license_text(jti=JTI, days=9)})
    coderd.act("DELETE", f"/api/v2/licenses/{held.outputs['license_id']}")
    assert licenses.read(held) is None


def test_L6_uploaded_again_by_hand_is_still_ours(coderd: Simulation, licenses: Driven) -> None:
    jwt = license_text()
    held = licenses.create(inputs(coderd, jwt))
    coderd.act("DELETE", f"/api/v2/licenses/{held.outputs['license_id']}")
    number = coderd.act("POST", "/api/v2/licenses", {"license": jwt})["id"]
    seen = licenses.read(held)
    assert seen is not None
    assert seen.outputs["license_id"] == str(number)
    assert (seen.id, seen.inputs) == (held.id, held.inputs)


def test_U1_a_user_who_may_not_look_sees_an_empty_list_and_that_is_not_gone(
    coderd: Simulation, licenses: Driven
) -> None:
    held = licenses.create(inputs(coderd, license_text()))
    member = coderd.act("POST", "/_sim/users", {"username": "member"})["token"]
    with provider_process({"token": member}) as theirs, pytest.raises(Failure) as failed:
        theirs.of(LicenseProvider()).read(held)
    assert "Forbidden: license, read: Cannot list licenses" in failed.value.last


@pytest.mark.parametrize(("status", "message", "reason"), NO_LIST)
def test_U1_L7_an_error_is_named_and_is_never_gone(
    coderd: Simulation, licenses: Driven, status: int, message: str, reason: str
) -> None:
    jwt = license_text()
    held = licenses.create(inputs(coderd, jwt))
    coderd.refuse(status, message, "/api/v2/licenses", count=-1)
    with pytest.raises(Failure) as failed:
        licenses.read(held)
    assert str(failed.value).startswith(f"Failed: {reason}: license, read: Cannot list licenses")
    assert len(str(failed.value).splitlines()) == 1, "no traceback"
    assert jwt not in str(failed.value)
    assert coderd.token not in str(failed.value)


@pytest.mark.parametrize("kind", ["garbage", "html"])
def test_U1_what_is_not_coderd_is_never_gone(
    coderd: Simulation, licenses: Driven, kind: str
) -> None:
    held = licenses.create(inputs(coderd, license_text()))
    coderd.fault(kind, "/api/v2/licenses", count=-1, status=200)
    with pytest.raises(Failure) as failed:
        licenses.read(held)
    assert "Error: license, read: Cannot list licenses" in failed.value.last
